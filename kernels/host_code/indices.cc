#include "kernels/host_code/indices.h"

#include <utility>

#include "kernels/host_code/quotient.h"

namespace kenaz::host_code {

using kir::Value;
using kir::Values;

Values indices_of(HostArrays& host, body::Thread& t, const std::vector<Operand>& sizes,
                  const Value& linear) {
  Values at(sizes.size());
  at[0] = linear;
  if (sizes.size() == 1) return at;
  const Operand most = host.count(sizes).operand();
  const OnHost<Operand> op = [&](ScalarOp o, PrimType type, PrimType to,
                                 std::vector<Operand> args) {
    return host.emit_op(o, type, to, std::move(args));
  };
  for (size_t n = sizes.size(); n-- > 1;) {
    const Value size = t.args.operand(sizes[n]);
    const Value q = quotient(t.k, at[0], size, t.args.operand(reciprocal(op, sizes[n], most)));
    at[n] = t.k.sub(at[0], t.k.mul(q, size));
    at[0] = q;
  }
  return at;
}

}  // namespace kenaz::host_code

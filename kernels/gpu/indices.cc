#include "kernels/gpu/indices.h"

namespace kenaz::gpu {

using kir::Value;
using kir::Values;

namespace {

/// a / b of non-negative i64; `small`: both fit into 32 bits, for all threads alike. 64-bit
/// divisions are slow, and NVIDIA's compiler (driver 580) gets chains of them wrong: of 25 bytes
/// that were to be copied, 5 were.
Value quotient(kir::Builder& k, const Value& a, const Value& b, const Value& small) {
  const auto narrow = [&] {
    return Values{k.to_i64(k.quot(k.convert(a, PrimType::kU32), k.convert(b, PrimType::kU32)))};
  };
  return k.if_values(small, narrow, [&] { return Values{k.quot(a, b)}; })[0];
}

}  // namespace

Values indices_of(HostGen& host, body::Thread& t, const std::vector<Operand>& sizes,
                  const Value& linear) {
  Values at(sizes.size());
  at[0] = linear;
  if (sizes.size() == 1) return at;
  const Value small =
      t.args.operand(host.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                                  {host.count(sizes).operand(), PrimValue::i64(INT32_MAX)}));
  for (size_t n = sizes.size(); n-- > 1;) {
    const Value size = t.args.operand(sizes[n]), q = quotient(t.k, at[0], size, small);
    at[n] = t.k.sub(at[0], t.k.mul(q, size));
    at[0] = q;
  }
  return at;
}

}  // namespace kenaz::gpu

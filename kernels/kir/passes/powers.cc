#include "kernels/kir/passes/powers.h"

#include <vector>

#include "kernels/kir/passes/put_before.h"

namespace kenaz::kir {
namespace {

/// What the power becomes: the third x * x * x, the fourth the square of the square.
void rewrite(Kernel& kernel, IPrim& i, ir::ProvId prov, std::vector<Inst>& out) {
  if (i.op != ScalarOp::kPow || !is_float(i.type)) return;
  const auto is = [&](double n) { return i.args[1] == Value(PrimValue::of_float(i.type, n)); };
  const bool third = is(3);
  if (!third && !is(4)) return;
  const Value x = i.args[0];
  const Type type{i.type, 1};
  const Value square(type, kernel.new_val(type));
  out.push_back({IPrim{square.id(), ScalarOp::kMul, i.type, i.type, {x, x}}, prov});
  i.op = ScalarOp::kMul;
  i.args = {square, third ? x : square};
}

}  // namespace

void powers(Kernel& kernel) {
  put_before(kernel, [&](Inst& i, std::vector<Inst>& out) {
    if (auto* prim = std::get_if<IPrim>(&i.op)) rewrite(kernel, *prim, i.prov, out);
  });
}

}  // namespace kenaz::kir

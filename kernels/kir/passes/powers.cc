#include "kernels/kir/passes/powers.h"

#include <utility>
#include <vector>

#include "kernels/kir/visit.h"

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

void rewrite_in(Kernel& kernel, Block& b) {
  std::vector<Inst> out;
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [&](Block& inner) { rewrite_in(kernel, inner); });
    if (auto* prim = std::get_if<IPrim>(&i.op)) rewrite(kernel, *prim, i.prov, out);
    out.push_back(std::move(i));
  }
  b.insts = std::move(out);
}

}  // namespace

void powers(Kernel& kernel) {
  for_each_body(kernel, [&](Block& b) { rewrite_in(kernel, b); });
}

}  // namespace kenaz::kir

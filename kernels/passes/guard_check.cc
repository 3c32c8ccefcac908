#include "kernels/passes/guard_check.h"

namespace kenaz::passes {

using namespace ir;

bool guard_check(Program& p, Stm& check, const std::vector<Atom>& widths, Empty& empty,
                 std::vector<Stm>& out) {
  const Type type{PrimType::kBool, {}};
  const auto prim = [&](ScalarOp op, PrimType t, Atom a, Atom b, const char* name) {
    const VarId v = p.new_var(type, name);
    out.push_back(Stm{{v}, EPrim{op, t, PrimType::kBool, {a, b}}, {}, check.prov, {}});
    return v;
  };
  for (size_t k = 0; k < widths.size() && !empty.is_known; ++k) {
    const Atom& width = widths[k];
    if (width.is_const() && width.constant().as_i64() > 0) continue;
    const VarId none = prim(ScalarOp::kLe, PrimType::kI64, width, i64(0), "empty");
    empty.var = empty.var ? prim(ScalarOp::kOr, PrimType::kBool, *empty.var, none, "empty") : none;
  }
  empty.is_known = true;
  if (!empty.var) return false;
  auto& assert = std::get<EAssert>(check.exp);
  assert.cond = prim(ScalarOp::kOr, PrimType::kBool, *empty.var, assert.cond, "empty_or_ok");
  return true;
}

}  // namespace kenaz::passes

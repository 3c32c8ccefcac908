#include "kernels/ir/analysis/plain.h"

#include <algorithm>

#include "kernels/scalar/quick.h"

namespace kenaz::ir {

bool binds_scalars(const Program& p, const Stm& s) {
  return std::ranges::all_of(s.pat, [&](VarId v) { return p.type_of(v).is_scalar(); });
}

bool is_plain(const Program& p, const Stm& s) {
  if (!binds_scalars(p, s) || !s.attrs.empty()) return false;
  if (const auto* branch = std::get_if<EIf>(&s.exp)) {
    return is_plain(p, branch->then_body) && is_plain(p, branch->else_body);
  }
  return std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EPrim>(s.exp) ||
         std::holds_alternative<EIndex>(s.exp) || std::holds_alternative<EAssert>(s.exp);
}

bool is_plain(const Program& p, const Body& b) {
  return std::ranges::all_of(b.stms, [&](const Stm& s) { return is_plain(p, s); });
}

bool is_quick_arithmetic(const Stm& s) {
  const auto* prim = std::get_if<EPrim>(&s.exp);
  return std::holds_alternative<EAtom>(s.exp) || (prim != nullptr && scalar_op_is_quick(prim->op));
}

}  // namespace kenaz::ir

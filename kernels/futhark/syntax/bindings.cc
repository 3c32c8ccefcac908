#include "kernels/futhark/syntax/bindings.h"

#include <algorithm>

#include "protocol/base/overloaded.h"

namespace kenaz::syntax {

namespace {

bool any(const std::vector<ExpPtr>& list) {
  return std::any_of(list.begin(), list.end(), [](const ExpPtr& e) { return binds_names(*e); });
}

bool any(const std::vector<DimIndex>& slice) {
  return std::any_of(slice.begin(), slice.end(), [](const DimIndex& d) {
    for (const ExpPtr* e : {&d.index, &d.start, &d.end, &d.stride}) {
      if (*e && binds_names(**e)) return true;
    }
    return false;
  });
}

bool any(const std::vector<UpdateStep>& path) {
  return std::any_of(path.begin(), path.end(), [](const UpdateStep& s) { return any(s.slice); });
}

bool any(const std::vector<ERecord::Field>& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const auto& f) { return f.value && binds_names(*f.value); });
}

template <class... Parts>
bool either(const Parts&... parts) {
  return ((parts && binds_names(*parts)) || ...);
}

}  // namespace

bool binds_names(const Exp& e) {
  return std::visit(
      Overloaded{[](const ELambda&) { return true; },
                 [](const EMatch&) { return true; },
                 [](const ELoop&) { return true; },
                 [](const ELet&) { return true; },
                 [](const ELetFun&) { return true; },
                 [](const ELetWith&) { return true; },
                 [](const ELiteral&) { return false; },
                 [](const EString&) { return false; },
                 [](const EVar&) { return false; },
                 [](const EHole&) { return false; },
                 [](const EOpSection&) { return false; },
                 [](const EParens& x) { return either(x.inner); },
                 [](const EQualParens& x) { return either(x.inner); },
                 [](const ETuple& x) { return any(x.elems); },
                 [](const ERecord& x) { return any(x.fields); },
                 [](const EArray& x) { return any(x.elems); },
                 [](const EProject& x) { return either(x.record); },
                 [](const EIndex& x) { return either(x.array) || any(x.slice); },
                 [](const EConstr& x) { return any(x.args); },
                 [](const ENegate& x) { return either(x.operand); },
                 [](const ENot& x) { return either(x.operand); },
                 [](const EBinOp& x) { return either(x.lhs, x.rhs); },
                 [](const EApply& x) { return either(x.fun) || any(x.args); },
                 [](const EIf& x) { return either(x.cond, x.then_branch, x.else_branch); },
                 [](const EUpdate& x) { return either(x.source, x.value) || any(x.path); },
                 [](const ERange& x) { return either(x.start, x.second, x.end); },
                 [](const EAscript& x) { return either(x.inner); },
                 [](const ECoerce& x) { return either(x.inner); },
                 [](const EAssert& x) { return either(x.cond, x.body); },
                 [](const EAttr& x) { return either(x.inner); },
                 [](const EOpSectionLeft& x) { return either(x.operand); },
                 [](const EOpSectionRight& x) { return either(x.operand); },
                 [](const EPathSection& x) { return any(x.path); }},
      e.node);
}

}  // namespace kenaz::syntax

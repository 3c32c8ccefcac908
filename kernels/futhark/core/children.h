// Walking over expressions.
#pragma once

#include "kernels/futhark/core/core.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

/// Calls `visit` with each expression directly below `e`, in the order of evaluation; the body of a
/// local definition or function, too. Expressions inside types do not count.
template <class Visit>
void for_each_child(const Exp& e, const Visit& visit) {
  const auto each = [&](const auto&... parts) { ((parts ? visit(parts) : void()), ...); };
  const auto dims = [&](const std::vector<DimIndex>& list) {
    for (const auto& d : list) each(d.index, d.start, d.end, d.stride);
  };
  const auto list = [&](const std::vector<ExpPtr>& parts) {
    for (const ExpPtr& p : parts) visit(p);
  };
  std::visit(
      Overloaded{[&](const ELambda& x) { visit(x.body); },
                 [&](const EApply& x) {
                   visit(x.fun);
                   list(x.args);
                 },
                 [&](const ELet& x) { each(x.value, x.body); },
                 [&](const ELetDef& x) { each(x.def->body, x.body); },
                 [&](const EIf& x) { each(x.cond, x.then_branch, x.else_branch); },
                 [&](const EMatch& x) {
                   visit(x.scrutinee);
                   for (const auto& c : x.cases) visit(c.second);
                 },
                 [&](const ELoop& x) { each(x.init, x.bound, x.body); },
                 [&](const ERecord& x) {
                   for (const auto& f : x.fields) visit(f.second);
                 },
                 [&](const EProject& x) { visit(x.record); },
                 [&](const ERecordUpdate& x) { each(x.record, x.value); },
                 [&](const EArray& x) { list(x.elems); },
                 [&](const EIndex& x) {
                   visit(x.array);
                   dims(x.dims);
                 },
                 [&](const EUpdate& x) {
                   visit(x.array);
                   dims(x.dims);
                   visit(x.value);
                 },
                 [&](const ERange& x) { each(x.start, x.second, x.end); },
                 [&](const ECoerce& x) { visit(x.inner); }, [&](const EConstr& x) { list(x.args); },
                 [&](const EAssert& x) { each(x.cond, x.body); },
                 [&](const EAttr& x) { visit(x.inner); }, [](const auto&) {}},
      e.node);
}

}  // namespace kenaz::core

// Walking over expressions.
#pragma once

#include <vector>

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

/// Whether the expression itself gives names to values, which something inside of it uses.
inline bool binds_names(const Exp& e) {
  return std::holds_alternative<ELambda>(e.node) || std::holds_alternative<ELet>(e.node) ||
         std::holds_alternative<ELetDef>(e.node) || std::holds_alternative<EMatch>(e.node) ||
         std::holds_alternative<ELoop>(e.node);
}

/// `e` with map(part) instead of each expression directly below it; `e` itself if nothing changes,
/// and null if a part became null. An expression that binds names stays as it is.
template <class Map>
ExpPtr map_children(const ExpPtr& e, const Map& map) {
  if (binds_names(*e)) return e;
  std::vector<ExpPtr> parts;
  bool changed = false, lost = false;
  for_each_child(*e, [&](const ExpPtr& part) {
    parts.push_back(map(part));
    changed |= parts.back() != part;
    lost |= parts.back() == nullptr;
  });
  if (lost) return nullptr;
  if (!changed) return e;
  auto copy = std::make_shared<Exp>(*e);
  auto next = parts.begin();
  // The copy is nobody else's yet.
  for_each_child(*copy, [&](const ExpPtr& part) { const_cast<ExpPtr&>(part) = *next++; });
  return copy;
}

}  // namespace kenaz::core

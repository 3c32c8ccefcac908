// Expressions that are sizes in written types.
#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/core/children.h"
#include "kernels/futhark/core/uniqueness.h"

namespace kenaz::check {

namespace {

/// A variable that the expression consumes, or null.
const core::EVar* consumed_variable(const core::Exp& e) {
  const core::EVar* found = nullptr;
  core::for_each_child(e, [&](const ExpPtr& part) {
    if (!found) found = consumed_variable(*part);
  });
  const auto* a = std::get_if<core::EApply>(&e.node);
  if (found || !a) return found;
  TypePtr type = a->fun->type;
  for (const ExpPtr& arg : a->args) {
    const auto* arrow = std::get_if<core::TArrow>(&type->node);
    if (!arrow) return nullptr;
    const auto* v = std::get_if<core::EVar>(&arg->node);
    if (v && core::consumes(*arrow)) return v;
    type = arrow->to;
  }
  return nullptr;
}

}  // namespace

ExpPtr Expressions::size_value(const syntax::Exp& source) {
  ExpPtr e = check(
      source, i64_,
      "Size expressions must have type i64, but \"" + syntax::pretty(source) + "\" does not.");
  if (const core::EVar* v = reports_.failed() ? nullptr : consumed_variable(*e)) {
    reports_.error(e->range,
                   "Consuming \"" + vars_.name(v->id) +
                       "\", which is not consumable here: a size expression only looks at values.");
  }
  return e;
}

}  // namespace kenaz::check

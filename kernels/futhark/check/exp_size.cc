// Expressions that are sizes in written types.
#include <algorithm>

#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/core/uniqueness.h"

namespace kenaz::check {

namespace {

/// A variable that the expression consumes, or null.
const core::EVar* consumed_variable(const ExpPtr& e) {
  const auto* a = std::get_if<core::EApply>(&e->node);
  if (!a) return nullptr;
  TypePtr type = a->fun->type;
  for (const ExpPtr& arg : a->args) {
    if (const core::EVar* inner = consumed_variable(arg)) return inner;
    const auto* arrow = std::get_if<core::TArrow>(&type->node);
    if (!arrow) return nullptr;
    const auto* v = std::get_if<core::EVar>(&arg->node);
    if (v && core::consumes(*arrow)) return v;
    type = arrow->to;
  }
  return nullptr;
}

}  // namespace

// A size expression with `length xs` replaced by what the type of xs says.
ExpPtr Expressions::lengths_as_sizes(const ExpPtr& e) {
  const auto* a = std::get_if<core::EApply>(&e->node);
  if (!a) return e;
  const auto* f = std::get_if<core::EVar>(&a->fun->node);
  if (f && a->args.size() == 1 && vars_.name(f->id) == "length") {
    const bool in_prelude =
        std::any_of(program_.defs.begin(), program_.defs.end(), [&](const core::DefPtr& d) {
          return d->id == f->id && d->range.file && d->range.file->name.rfind("/prelude", 0) == 0;
        });
    TypePtr t = vars_.resolve(a->args[0]->type);
    const auto* array = std::get_if<core::TArray>(&t->node);
    if (!in_prelude || !array) return e;
    const Size dim = vars_.resolve(array->dim);
    const bool known = dim.kind != Size::kAny && dim.kind != Size::kMeta;
    return known ? core::exp_of_size(dim) : e;
  }
  auto copy = std::make_shared<core::Exp>(*e);
  for (auto& x : std::get<core::EApply>(copy->node).args) x = lengths_as_sizes(x);
  return copy;
}

ExpPtr Expressions::size_value(const syntax::Exp& source) {
  ExpPtr e = check(
      source, i64_,
      "Size expressions must have type i64, but \"" + syntax::pretty(source) + "\" does not.");
  if (const core::EVar* v = reports_.failed() ? nullptr : consumed_variable(e)) {
    reports_.error(e->range,
                   "Consuming \"" + vars_.name(v->id) +
                       "\", which is not consumable here: a size expression only looks at values.");
  }
  return lengths_as_sizes(e);
}

}  // namespace kenaz::check

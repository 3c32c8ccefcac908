// Functions: what their parameters allow, what their results promise.
#include <fmt/format.h>

#include "kernels/futhark/consumption/consumption.h"
#include "kernels/futhark/consumption/pass.h"
#include "kernels/futhark/core/uniqueness.h"
#include "protocol/base/overloaded.h"

namespace kenaz::consumption {

using core::TArrow;

namespace {

TypePtr result_type(const TypePtr& function, size_t params) {
  TypePtr t = function;
  for (size_t i = 0; i < params; i++) {
    const auto* arrow = std::get_if<TArrow>(&t->node);
    if (!arrow) break;
    t = arrow->to;
  }
  return t;
}

TypePtr with_result(const TypePtr& function, size_t params, const TypePtr& result) {
  const auto* arrow = params > 0 ? std::get_if<TArrow>(&function->node) : nullptr;
  if (!arrow) return result;
  TArrow out = *arrow;
  out.to = with_result(arrow->to, params - 1, result);
  return core::make_type(std::move(out), function->unique);
}

}  // namespace

void Pass::bind_parameter(const core::Pat& p, bool consumable) {
  consumable = consumable || p.type->unique;
  std::visit(Overloaded{[&](const core::PBind& b) {
                          const bool may = consumable || core::has_unique(p.type);
                          bind_name(b.id, p.type, {}, {Root::kParameter, name(b.id), may});
                        },
                        [&](const core::PRecord& r) {
                          for (const auto& f : r.fields) bind_parameter(*f.second, consumable);
                        },
                        [&](const core::PConstr& c) {
                          for (const auto& arg : c.args) bind_parameter(*arg, consumable);
                        },
                        [](const auto&) {}},
             p.node);
}

void Pass::check_no_constants(const AliasPtr& result, const SourceRange& range) {
  for (RootId r : all_roots(result)) {
    if (ledger_.root(r).kind != Root::kConstant) continue;
    ledger_.report(range,
                   fmt::format("Function result aliases the free variable {}.\nHint: use \"copy\" "
                               "to break the aliasing.",
                               ledger_.describe(r)),
                   "alias-free-variable");
  }
}

/// `type` says which parts of a function's result are unique.
void Pass::check_declared_result(const TypePtr& type, const AliasPtr& a, const SourceRange& range) {
  Roots unique_ones, others;
  for_each_leaf(type, a, [&](const TypePtr&, const Roots& roots, bool unique) {
    if (common(roots, unique ? merge(unique_ones, others) : unique_ones)) {
      ledger_.report(range,
                     "A unique-typed component of the return value is aliased to some other "
                     "component.",
                     "unique-return-aliased");
    }
    Roots& seen = unique ? unique_ones : others;
    seen = merge(seen, roots);
    if (!unique) return;
    for (RootId r : roots) {
      if (ledger_.is_consumable(r)) continue;
      ledger_.report(range,
                     fmt::format("Unique-typed return value is aliased to {}, which is not "
                                 "consumable.\nHint: return a copy of it, made by \"copy\".",
                                 ledger_.describe(r)),
                     "return-aliased");
    }
  });
}

/// The type of a result about whose uniqueness nobody wrote anything: unique is what is fresh, or
/// was a parameter that the function may consume, and is not there twice.
TypePtr Pass::infer_result(const TypePtr& type, const Value& value) {
  if (std::holds_alternative<TArrow>(type->node)) {
    return value.function ? core::copy_uniqueness(type, value.function) : type;
  }
  Roots once, twice;
  for_each_leaf(type, value.aliases, [&](const TypePtr&, const Roots& roots, bool) {
    for (RootId r : roots) {
      if (contains(once, r)) twice = merge(twice, {r});
    }
    once = merge(once, roots);
  });
  return with_unique_leaves(type, value.aliases, [&](const Roots& roots) {
    for (RootId r : roots) {
      if (!ledger_.is_consumable(r) || contains(twice, r)) return false;
    }
    return true;
  });
}

Value Pass::function(const core::ELambda& f, const ExpPtr& e) {
  const Mark before = ledger_.mark();
  const RootId outside = ledger_.enter();
  for (const PatPtr& p : f.params) bind_parameter(*p, false);
  const Value body = walk(f.body);
  if (ledger_.failed()) return {};
  const TypePtr type = result_type(e->type, f.params.size());
  check_no_constants(body.aliases, f.body->range);
  TypePtr result = type;
  if (f.result_declared) {
    check_declared_result(type, body.aliases, f.body->range);
    const TypePtr& actual = body.function ? body.function : f.body->type;
    const auto wrong = core::uniqueness_error(type, actual);
    if (wrong != core::UniquenessError::kNone) {
      ledger_.report(f.body->range,
                     fmt::format("Function body does not have expected type.{}\nExpected: "
                                 "{}\nActual:   {}",
                                 core::describe(wrong), type_text(type), type_text(actual)));
    }
  } else {
    result = infer_result(type, body);
  }
  ledger_.leave(outside);
  ledger_.rewind(before);  // what is left is the function's own
  return {aliases_of(ledger_.used_since(before)), with_result(e->type, f.params.size(), result)};
}

Value Pass::local_definition(const core::ELetDef& l) {
  const core::Def& def = *l.def;
  const Mark before = ledger_.mark();
  const Value value = walk(def.body);
  contains_no_consumption(def.body, before, "Let-bound expression of higher-order type");
  return value;
}

std::optional<Diagnostic> check(core::Def& def, const core::Names& names) {
  Pass pass(names);
  const Value value = pass.walk(def.body);
  Ledger& ledger = pass.ledger();
  const bool lambda = std::holds_alternative<core::ELambda>(def.body->node);
  if (lambda && !def.type_declared) {
    if (value.function) def.type = value.function;
    return ledger.error();
  }
  if (std::holds_alternative<TArrow>(def.type->node)) {
    const TypePtr& actual =
        value.function && !lambda ? value.function : def.body->type;  // what is written counts
    const auto wrong = core::uniqueness_error(def.type, actual);
    if (wrong != core::UniquenessError::kNone) {
      ledger.report(
          def.body->range,
          fmt::format("Value does not have expected type.{}\nExpected: {}\nActual:   {}",
                      core::describe(wrong), pass.type_text(def.type), pass.type_text(actual)));
    } else if (value.function && !def.type_declared) {
      def.type = core::copy_uniqueness(def.type, value.function);
    }
  } else if (def.type_declared && !std::holds_alternative<core::TSum>(def.type->node) &&
             core::has_unique(def.type)) {
    ledger.report(def.range,
                  "A top-level constant cannot have a unique type: nothing may consume it.");
  } else {
    def.type = core::without_unique(def.type);
  }
  return ledger.error();
}

}  // namespace kenaz::consumption

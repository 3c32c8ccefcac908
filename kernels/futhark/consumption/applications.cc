// Applications: arguments are consumed, results share memory with what they were made of.
#include <fmt/format.h>

#include "kernels/futhark/consumption/pass.h"
#include "kernels/futhark/core/uniqueness.h"

namespace kenaz::consumption {

using core::TArrow;

std::string Pass::function_name(const ExpPtr& e) const {
  if (const auto* v = std::get_if<core::EVar>(&e->node)) return name(v->id);
  if (const auto* a = std::get_if<core::EApply>(&e->node)) return function_name(a->fun);
  if (const auto* a = std::get_if<core::EAttr>(&e->node)) return function_name(a->inner);
  return "";
}

namespace {

/// Operators evaluate their operands from left to right, functions their arguments from right to
/// left.
bool is_operator(const ExpPtr& fun, const std::string& name) {
  if (std::holds_alternative<core::EIntrinsic>(fun->node)) return true;
  return std::holds_alternative<core::EVar>(fun->node) && !name.empty() &&
         std::string_view("+-*/%=!<>&^|").find(name[0]) != std::string_view::npos;
}

}  // namespace

Value Pass::apply(const core::EApply& a, const ExpPtr& e) {
  const Value function = walk(a.fun);
  const std::string name = function_name(a.fun);
  std::vector<Argument> args;
  TypePtr type = function.function ? function.function : a.fun->type;
  for (const ExpPtr& x : a.args) {
    const auto* arrow = type ? std::get_if<TArrow>(&type->node) : nullptr;
    args.push_back({x, arrow, {}});
    if (arrow) type = arrow->to;
  }
  const bool forwards = is_operator(a.fun, name);
  std::vector<size_t> before;
  for (size_t i = 0; i < args.size(); i++) {
    const size_t at = forwards ? i : args.size() - 1 - i;
    argument(args, at, before);
    before.push_back(at);
    if (ledger_.failed()) return {};
  }
  // An argument may have consumed what the function has captured.
  const VarId written = written_variable(a.fun);
  if (written.valid()) ledger_.use(this->name(written), a.fun->range, function.aliases);
  if (count_leaves(e->type) == 0) return {};
  return result(e->type, type, function, args, name);
}

void Pass::argument(std::vector<Argument>& args, size_t at, const std::vector<size_t>& before) {
  Argument& arg = args[at];
  const Mark start = ledger_.mark();
  arg.value = walk(arg.exp);
  contains_no_consumption(arg.exp, start, "Argument of functional type");
  if (!arg.arrow) return;
  TypePtr actual = arg.value.function ? arg.value.function : arg.exp->type;
  auto wrong = core::uniqueness_error(arg.arrow->from, actual);
  if (wrong == core::UniquenessError::kNone) {  // nor what was found out, but is not written
    actual = arg.exp->type;
    wrong = core::uniqueness_error(arg.arrow->from, actual);
  }
  if (wrong != core::UniquenessError::kNone) {
    ledger_.report(
        arg.exp->range,
        fmt::format("Cannot apply this function to an argument of this type (invalid "
                    "type).{}\nExpected: {}\nActual:   {}",
                    core::describe(wrong), type_text(arg.arrow->from), type_text(actual)));
  }
  if (core::consumes(*arg.arrow)) consume_argument(arg, args, before);
}

Roots Pass::distinct_parts(const ExpPtr& e, const AliasPtr& aliases) {
  Roots seen;
  for_each_leaf(e->type, aliases, [&](const TypePtr&, const Roots& roots, bool) {
    if (const RootId* twice = common(roots, seen)) {
      ledger_.report(e->range,
                     fmt::format("Argument passed for consuming parameter is self-aliased: two of "
                                 "its parts may be aliases of {}.",
                                 ledger_.describe(*twice)),
                     "self-aliasing-arg");
    }
    seen = merge(seen, roots);
  });
  return seen;
}

void Pass::consume_argument(const Argument& arg, const std::vector<Argument>& args,
                            const std::vector<size_t>& before) {
  const Roots seen = distinct_parts(arg.exp, arg.value.aliases);
  for (size_t i : before) {
    const RootId* shared = common(seen, all_roots(args[i].value.aliases));
    if (!shared) continue;
    ledger_.report(
        arg.exp->range,
        fmt::format("Argument is consumed, but aliases\n  {}\nwhich is also aliased by "
                    "the other argument at {}.",
                    ledger_.describe(*shared), place(args[i].exp->range, arg.exp->range)));
  }
  ledger_.consume(seen, arg.exp->range, written_name(arg.exp));
}

/// What is not unique in the result may share memory with all arguments that are not consumed, with
/// what the function captured, and with the other parts of the result.
Value Pass::result(const TypePtr& type, const TypePtr& flags, const Value& function,
                   const std::vector<Argument>& args, const std::string& name) {
  const TypePtr unique = flags ? core::copy_uniqueness(type, flags) : type;
  Roots roots = all_roots(function.aliases);
  for (const Argument& arg : args) {
    if (arg.arrow && core::consumes(*arg.arrow)) continue;
    if (arg.value.aliases) roots = merge(roots, all_roots(arg.value.aliases));
  }
  size_t shared = 0;
  for_each_leaf(unique, nullptr, [&](const TypePtr& leaf, const Roots&, bool is_unique) {
    if (!is_unique && !std::holds_alternative<TArrow>(leaf->node)) shared++;
  });
  if (shared > 1 && roots.empty()) roots = {ledger_.add({Root::kResult, name, true})};
  return {map_leaves(unique, nullptr,
                     [&](const core::Type&, const Roots&, bool is_unique) {
                       return is_unique ? Roots{} : roots;
                     }),
          function.function ? unique : nullptr};
}

}  // namespace kenaz::consumption

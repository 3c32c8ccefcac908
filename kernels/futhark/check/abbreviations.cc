// Type abbreviations.
#include <algorithm>

#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

TypeBinding* TypeExps::type_bind(const syntax::TypeBind& b, EnvRef env) {
  TypeBinding* out = scopes_.new_type();
  fn_.inside(env, [&](FnState& state) {
    TypeParams params = type_params(b.params);
    TypeSizes sizes;
    out->name = b.name;
    out->params = params.all;
    out->type = type_exp(*b.type, sizes);
    check_comparable(sizes);
    out->ext = sizes.ext;
    out->universals = sizes.universals;
    out->lifted = b.lifted;
    out->source = b.type.get();
    out->source_env = env;
    finishing_.finish(state);
    out->type = vars_.zonk(out->type, Zonk::kFinal);
  });
  infer_.check_size_of_type(out->type, b.type->range);
  if (reports_.failed()) out->type = core::tuple_type({});
  check_abbreviation(b, *out);
  return out;
}

/// What an abbreviation may stand for, by the way it is declared.
void TypeExps::check_abbreviation(const syntax::TypeBind& b, const TypeBinding& made) {
  if (reports_.failed()) return;
  std::unordered_set<VarId> used;
  core::free_sizes(made.type, used);
  for (const auto& p : made.params) {
    const auto* size = std::get_if<VarId>(&p);
    if (!size || used.count(*size)) continue;
    reports_.error(b.type->range, "Size parameter \"[" + vars_.name(*size) +
                                      "]\" unused: nothing in the type has that size.");
    return;
  }
  const syntax::Liftedness lifted =
      std::max(vars_.liftedness(made.type), written_liftedness(b, made));
  if (lifted > b.lifted) {
    const bool functions = lifted == syntax::Liftedness::kFullyLifted;
    reports_.error(b.type->range,
                   functions
                       ? "Non-lifted type abbreviations may not contain functions.\n"
                         "Hint: consider using 'type^'."
                       : "Non-size-lifted type abbreviations may not contain size-lifted types.\n"
                         "Hint: consider using 'type~'.");
    return;
  }
  if (!made.universals.empty()) {
    reports_.error(
        b.type->range,
        "Type abbreviation contains an anonymous size not used constructively as an array size "
        "(anonymous-nonconstructive).\nIt is the size of a function's parameter, so no value of "
        "the type says what it is.\nHint: add size parameters to \"" +
            b.name + "\".");
    return;
  }
  if (b.lifted == syntax::Liftedness::kUnlifted && !(made.ext.empty() && made.universals.empty())) {
    reports_.error(
        b.type->range,
        "Non-lifted type abbreviations may not use existential sizes in their definition.\n"
        "Hint: use 'type~' or add size parameters to \"" +
            b.name + "\".");
  }
}

/// Of an abbreviation of an abbreviation: what that is declared as, whatever it stands for.
syntax::Liftedness TypeExps::written_liftedness(const syntax::TypeBind& b,
                                                const TypeBinding& made) {
  const syntax::TypeExp* head = b.type.get();
  while (const auto* p = std::get_if<syntax::TypeParens>(&head->node)) head = p->inner.get();
  const auto* v = std::get_if<syntax::TypeVar>(&head->node);
  auto lifted = syntax::Liftedness::kUnlifted;
  if (!v) return lifted;
  fn_.inside(made.source_env, [&](FnState&) {
    const TypeBinding* other = naming_.find_type(v->name);
    if (other) lifted = other->lifted;
  });
  return lifted;
}

}  // namespace kenaz::check

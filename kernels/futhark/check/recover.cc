// What happens after an error: the declaration that has it ends, and what it declares is known to
// those that follow by the type that it says, or as broken. A declaration that uses something
// broken is abandoned: it ends without an error of its own and is broken, too. So every error has a
// cause of its own.
#include <algorithm>

#include "kernels/futhark/check/modules.h"

namespace kenaz::check {

/// Binds what `dec`, which has an error, declares.
void Modules::bind_broken(const syntax::Dec& dec, const DecContext& ctx, bool local) {
  if (const auto* l = std::get_if<syntax::DecLocal>(&dec.node)) {
    bind_broken(*l->inner, ctx, true);
  } else if (const auto* v = std::get_if<syntax::DecVal>(&dec.node)) {
    ValBinding* b = scopes_.new_val();
    b->range = v->name_range;
    b->broken = !bind_declared(*v, scopes_.now(ctx.env), *b);
    scopes_.bind(ctx.env->vals, v->name, b, local);
  } else if (const auto* t = std::get_if<syntax::DecType>(&dec.node)) {
    TypeBinding* b = scopes_.new_type();
    b->name = t->bind.name;
    b->type = core::tuple_type({});
    b->broken = true;
    scopes_.bind(ctx.env->types, t->bind.name, b, local);
  } else if (const auto* m = std::get_if<syntax::DecMod>(&dec.node)) {
    ModBinding* b = scopes_.new_mod();
    b->broken = true;
    scopes_.bind(ctx.env->mods, m->name, b, local);
  } else if (const auto* s = std::get_if<syntax::DecModType>(&dec.node)) {
    ModTypeBinding* b = scopes_.new_mod_type({s->type.get(), scopes_.now(ctx.env)});
    b->broken = true;
    scopes_.bind(ctx.env->mod_types, s->name, b, local);
  } else {
    lookup_.miss_names();
  }
}

namespace {

bool has_open_size(const TypePtr& type, const std::vector<VarId>& open) {
  return std::any_of(open.begin(), open.end(),
                     [&](VarId v) { return core::mentions_size(type, v); });
}

}  // namespace

/// Gives `out` the type that a definition declares, if it says all of it. A size of the result that
/// is left open may be anything, so such a type says too little.
bool Modules::bind_declared(const syntax::DecVal& d, EnvRef env, ValBinding& out) {
  if (!d.ret) return false;
  bool whole = false;
  const Reports::Quiet quiet(reports_);
  fn_.inside(env, [&](FnState&) {
    const uint32_t start = vars_.next_var();
    TypeParams declared = types_.type_params(d.tparams);
    for (VarId v : declared.sizes) vars_[v].param = true;
    std::vector<PatPtr> params;
    for (const auto& p : d.params) params.push_back(patterns_.pat(*p, vars_.new_meta()));
    TypeSizes sizes;
    TypePtr ret = types_.type_exp(*d.ret, sizes);
    if (reports_.failed() || !sizes.universals.empty() || has_open_size(ret, sizes.ext)) return;
    for (const PatPtr& p : params) {
      for (VarId v : vars_.unsolved_flex(p->type)) {
        vars_[v].flex = false;
        vars_[v].param = true;
        declared.sizes.push_back(v);
      }
    }
    out.var = vars_.new_var(d.name);
    out.scheme = {declared.types, declared.sizes,
                  params.empty() ? ret : existentials_.arrow_type(params, ret, start, {})};
    std::vector<core::MetaId> unknown;
    vars_.unsolved_metas(out.scheme.type, unknown);
    whole = unknown.empty();
    out.scheme.type = vars_.zonk(out.scheme.type, Zonk::kKeep);
  });
  reports_.forget();  // what is wrong here has been reported
  return whole;
}

}  // namespace kenaz::check

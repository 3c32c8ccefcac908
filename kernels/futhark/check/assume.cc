// Modules of which only the module type is known: module types are checked where they are declared,
// and the bodies of parametric modules where they are defined, with such a module as argument.
#include <set>

#include "kernels/futhark/check/modules.h"
#include "kernels/futhark/check/warn.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// A module of this type whose abstract types are like no other.
Mod Modules::assume(const ModTypeBinding& type, std::vector<With> withs) {
  const Reports::Quiet quiet(reports_, !withs.empty());
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(type.exp->range, "Module types are nested too deeply.");
  if (reports_.failed()) return {};
  return std::visit(
      Overloaded{[&](const syntax::ModTypeVar& v) -> Mod {
                   ModTypeBinding* b = nullptr;
                   fn_.inside(type.env, [&](FnState&) { b = naming_.find_mod_type(v.name); });
                   if (!b) lookup_.unknown();
                   if (lookup_.sound(b)) return assume(*b, std::move(withs));
                   reports_.error(type.exp->range, "Unknown module type \"" + v.name.name + "\".");
                   return {};
                 },
                 [&](const syntax::ModTypeParens& p) {
                   return assume({p.inner.get(), type.env}, std::move(withs));
                 },
                 [&](const syntax::ModTypeWith& w) {
                   withs.push_back({&w, type.env, 0});
                   const Mod refined = assume({w.base.get(), type.env}, std::move(withs));
                   check_refinement(w, refined);
                   return refined;
                 },
                 [&](const syntax::ModTypeSpecs& s) -> Mod {
                   check_duplicate_specs(s);
                   Env* env = scopes_.new_env(type.env);
                   for (const auto& spec : s.specs) {
                     if (!reports_.failed()) assume_spec(*spec, env, withs);
                   }
                   return {env, nullptr};
                 },
                 [&](const syntax::ModTypeArrow& a) -> Mod {
                   Functor& f = scopes_.new_functor();
                   f.param = a.param.value_or("");
                   f.param_type = {a.from.get(), type.env};
                   f.env = type.env;
                   f.ret = a.to.get();
                   return {nullptr, &f};
                 }},
      type.exp->node);
}

void Modules::assume_spec(const syntax::Spec& spec, Env* env, const std::vector<With>& withs) {
  const EnvRef here = scopes_.now(env);
  std::visit(Overloaded{[&](const syntax::SpecVal& v) {
                          check_parameter_names(*v.type);
                          ValBinding* b = scopes_.new_val();
                          b->var = vars_.new_var(v.name);
                          b->scheme = types_.spec_scheme(v, here);
                          b->defined = {v.name_range, v.doc ? &*v.doc : nullptr};
                          naming_.seen(v.name_range, v.name, b);
                          scopes_.bind(env->vals, v.name, b, false);
                        },
                        [&](const syntax::SpecTypeAbbr& t) {
                          for (const With& w : withs) not_abstract(w, t.bind.name);
                          TypeBinding* b = types_.type_bind(t.bind, here);
                          b->defined.range = t.bind.name_range;
                          naming_.seen(t.bind.name_range, t.bind.name, b);
                          scopes_.bind(env->types, t.bind.name, b, false);
                        },
                        [&](const syntax::SpecType& t) { assume_type(t, env, withs); },
                        [&](const syntax::SpecMod& m) {
                          ModBinding* b = scopes_.new_mod();
                          b->mod = assume({m.type.get(), here}, withs_of(m.name, withs));
                          b->defined.range = m.name_range;
                          naming_.seen(m.name_range, m.name, b);
                          scopes_.bind(env->mods, m.name, b, false);
                        },
                        [&](const syntax::SpecInclude& i) {
                          const Mod part = assume({i.type.get(), here}, withs);
                          if (reports_.failed()) return;
                          if (part.env) {
                            warn_of_inclusion(reports_, *part.env, here, spec.range);
                            scopes_.open_into(env, *part.env, false);
                          } else {
                            reports_.error(spec.range, "Cannot include a parametric module type.");
                          }
                        }},
             spec.node);
}

/// The type that a `with` refines must be there.
void Modules::check_refinement(const syntax::ModTypeWith& w, const Mod& refined) {
  if (reports_.failed()) return;
  const Env* env = refined.env;
  for (const std::string& q : w.name.quals) {
    ModBinding* m = env ? scopes_.find_outside(env->mods, q) : nullptr;
    env = m ? m->mod.env : nullptr;
  }
  if (env && scopes_.find_outside(env->types, w.name.name)) return;
  std::string name;
  for (const std::string& q : w.name.quals) name += q + ".";
  reports_.error(w.name.range,
                 "\"" + name + w.name.name + "\" is not an abstract type in the module type.");
}

void Modules::not_abstract(const With& w, const std::string& name) {
  const syntax::QualName& target = w.with->name;
  if (w.depth != target.quals.size() || target.name != name) return;
  reports_.error(target.range,
                 "\"" + name + "\" is not an abstract type: it is known what it stands for.");
}

/// Whether `inner` makes a type what `outer` has made of the one of the same name around it, as in
/// `type t include has with t = t`: what stands for one stands for the other.
bool Modules::gives_refined(const With& inner, const With& outer) {
  const auto* given = std::get_if<syntax::TypeVar>(&inner.with->type->node);
  if (!given || !given->name.quals.empty() || given->name.name != outer.with->name.name) {
    return false;
  }
  const TypeBinding* b = nullptr;
  fn_.inside(inner.env, [&](FnState&) { b = naming_.find_type(given->name); });
  return b && b->source == outer.with->type.get();
}

void Modules::assume_type(const syntax::SpecType& t, Env* env, const std::vector<With>& withs) {
  const With* refined = nullptr;
  for (const With& w : withs) {
    if (w.depth != w.with->name.quals.size() || w.with->name.name != t.name) continue;
    if (!refined) {
      refined = &w;
    } else if (!gives_refined(w, *refined)) {
      return not_abstract(*refined, t.name);
    }
  }
  TypeParams params;
  fn_.inside(scopes_.now(env), [&](FnState&) { params = types_.type_params(t.params); });
  if (refined) {
    const auto& given = refined->with->params;
    bool same = given.size() == t.params.size();
    for (size_t i = 0; same && i < given.size(); i++) {
      same = given[i].kind == t.params[i].kind && given[i].lifted >= t.params[i].lifted;
    }
    if (!same) {
      reports_.error(refined->with->name.range,
                     "Cannot refine a type having other parameters than \"" + t.name +
                         "\", which has " + std::to_string(t.params.size()) + ".");
    }
    TypeBinding* b = refined_type(*refined);
    b->defined.range = t.name_range;
    return scopes_.bind(env->types, t.name, b, false);
  }
  // What it stands for is a type that is nothing else.
  const TyVarId unknown = vars_.new_tyvar(t.name, t.lifted);
  const core::AbstractId id =
      vars_.new_abstract({t.name, params.all, core::make_type(core::TParam{unknown})}, t.lifted);
  TypeBinding* b = scopes_.new_type();
  b->name = t.name;
  b->params = params.all;
  b->lifted = t.lifted;
  b->defined.range = t.name_range;
  naming_.seen(t.name_range, t.name, b);
  core::TAbstract type{id, {}};
  for (const auto& p : params.all) {
    if (const auto* v = std::get_if<VarId>(&p)) {
      type.args.emplace_back(Size::of_var(*v));
    } else {
      type.args.emplace_back(core::make_type(core::TParam{std::get<TyVarId>(p)}));
    }
  }
  b->type = core::make_type(std::move(type));
  scopes_.bind(env->types, t.name, b, false);
}

// The names of parameters in a function's type are all different.
void Modules::check_parameter_names(const syntax::TypeExp& type) {
  std::set<std::string> names;
  const syntax::TypeExp* t = &type;
  while (const auto* a = std::get_if<syntax::TypeArrow>(&t->node)) {
    if (a->param && !names.insert(*a->param).second) {
      reports_.error(t->range, "The parameter name \"" + *a->param + "\" is there more than once.");
    }
    t = a->to.get();
  }
}

// The body of a parametric module, with a module as argument of which only the type is known. What
// it defines is no part of the program: each application checks it anew. What waited outside until
// it is used is part of it, also if it is used here for the first time.
void Modules::check_functor(const Functor& f, const SourceRange& range) {
  if (reports_.failed() || applying_ > 0 || (f.file && f.file->prelude)) return;
  const Restore outside(assuming_, true);
  const Functor* at = &f;
  while (at && !reports_.failed()) {
    const Mod argument = assume(at->param_type, {});
    if (reports_.failed()) break;
    at = apply_functor(*at, argument, range).functor;
    if (at && !at->more && !at->body) break;  // it is no further parameter of this one
  }
}

/// A parametric module, against the type of one: what the type says of the parameter must be enough
/// for the module, and what the module makes of it enough for the type.
void Modules::match_functor(const Functor& f, const syntax::ModTypeArrow& type, EnvRef env,
                            const Matching& m) {
  if (reports_.failed() || m.lazy || applying_ > 0) return;
  const Restore outside(assuming_, true);
  const Mod argument = assume({type.from.get(), env}, {});
  if (reports_.failed()) return;
  ascribe_with(argument, f.param_type, {Seal::kTransparent, m.range, false, m.path}, {});
  const Mod result = apply_functor(f, argument, m.range);
  if (reports_.failed()) return;
  Env* inside = scopes_.new_env(env);
  ModBinding* param = scopes_.new_mod();
  param->mod = argument;
  if (type.param) scopes_.bind(inside->mods, *type.param, param, false);
  ascribe_with(result, {type.to.get(), scopes_.now(inside)}, m, {});
}

}  // namespace kenaz::check

// Matching a module against a module type.
#include "kernels/futhark/check/modules.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

Mod Modules::ascribe(const Mod& mod, const ModTypeBinding& type, Seal seal,
                     const SourceRange& range, bool lazy) {
  return ascribe_with(mod, type, {seal, range, lazy, ""}, {});
}

// The result of matching `mod` against `type`: a new structure with what the type names.
Mod Modules::ascribe_with(const Mod& mod, const ModTypeBinding& type, const Matching& m,
                          std::vector<With> withs) {
  const SourceRange& range = m.range;
  const Reports::Quiet quiet(reports_);
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(range, "Module types are nested too deeply.");
  if (reports_.failed()) return {};
  return std::visit(
      Overloaded{
          [&](const syntax::ModTypeVar& v) -> Mod {
            ModTypeBinding* b = nullptr;
            fn_.inside(type.env, [&](FnState&) { b = naming_.find_mod_type(v.name); });
            if (!b) lookup_.unknown();
            if (!b) reports_.error(type.exp->range, "Unknown module type \"" + v.name.name + "\".");
            lookup_.sound(b);
            if (reports_.failed()) return {};
            return ascribe_with(mod, *b, m, std::move(withs));
          },
          [&](const syntax::ModTypeParens& p) {
            return ascribe_with(mod, {p.inner.get(), type.env}, m, std::move(withs));
          },
          [&](const syntax::ModTypeWith& w) {
            withs.push_back({&w, type.env, 0});
            return ascribe_with(mod, {w.base.get(), type.env}, m, std::move(withs));
          },
          [&](const syntax::ModTypeSpecs& s) -> Mod {
            if (!mod.env) {
              reports_.error(range,
                             "Module type requires a structure, but this module is parametric.");
              return {};
            }
            Env* out = scopes_.new_env(type.env);
            match_specs(s, type.env, mod, out, m, withs);
            return {out, nullptr};
          },
          [&](const syntax::ModTypeArrow& a) -> Mod {
            if (!mod.functor) {
              reports_.error(range,
                             "Module type requires a parametric module, but this is a structure.");
              return {};
            }
            match_functor(*mod.functor, a, type.env, m);
            Functor& f = scopes_.new_functor();
            f.param = a.param.value_or("");
            f.param_type = {a.from.get(), type.env};
            f.env = type.env;
            f.ret = a.to.get();
            f.inner = mod.functor;
            f.file = mod.functor->file;
            return {nullptr, &f};
          }},
      type.exp->node);
}

// What `with` says of parts of module `name`.
std::vector<Modules::With> Modules::withs_of(const std::string& name,
                                             const std::vector<With>& withs) {
  std::vector<With> inner;
  for (With w : withs) {
    const auto& quals = w.with->name.quals;
    if (w.depth >= quals.size() || quals[w.depth] != name) continue;
    w.depth++;
    inner.push_back(w);
  }
  return inner;
}

void Modules::match_specs(const syntax::ModTypeSpecs& specs, EnvRef env, const Mod& mod, Env* out,
                          const Matching& m, const std::vector<With>& withs) {
  // Specs see the names before them: `scope` has them in front of the module type's surroundings.
  Env* scope =
      out->parent.env == env.env && out->parent.stamp == env.stamp ? out : scopes_.new_env(env);
  std::vector<Env*> outs{out};
  if (scope != out) outs.push_back(scope);
  for (const auto& spec : specs.specs) {
    if (reports_.failed()) return;
    const EnvRef here = scopes_.now(scope);
    std::visit(Overloaded{[&](const syntax::SpecVal& v) { match_value(v, here, mod, outs, m); },
                          [&](const syntax::SpecTypeAbbr& t) {
                            TypeBinding* b = types_.type_bind(t.bind, here);
                            match_abbreviation(*b, mod, m);
                            for (Env* o : outs) scopes_.bind(o->types, t.bind.name, b, false);
                          },
                          [&](const syntax::SpecType& t) { match_type(t, mod, outs, m, withs); },
                          [&](const syntax::SpecMod& part) {
                            ModBinding* impl = scopes_.find_outside(mod.env->mods, part.name);
                            if (!impl) {
                              reports_.error(m.range, "Module does not define a module named \"" +
                                                          m.path + part.name + "\".");
                              return;
                            }
                            lookup_.force(*impl);
                            lookup_.sound(impl);
                            ModBinding* b = scopes_.new_mod();
                            b->defined = impl->defined;
                            Matching below = m;
                            below.path += part.name + ".";
                            b->mod = ascribe_with(impl->mod, {part.type.get(), here}, below,
                                                  withs_of(part.name, withs));
                            for (Env* o : outs) scopes_.bind(o->mods, part.name, b, false);
                          },
                          [&](const syntax::SpecInclude& i) {
                            Mod part = ascribe_with(mod, {i.type.get(), here}, m, withs);
                            if (reports_.failed()) return;
                            if (!part.env) {
                              reports_.error(spec->range,
                                             "Cannot include a parametric module type.");
                              return;
                            }
                            for (Env* o : outs) scopes_.open_into(o, *part.env, false);
                          }},
               spec->node);
  }
}

// The type that a `with` gives to the specification's.
TypeBinding* Modules::refined_type(const With& w) {
  TypeBinding* b = scopes_.new_type();
  fn_.inside(w.env, [&](FnState& state) {
    TypeParams p = types_.type_params(w.with->params);
    TypeSizes sizes;
    b->name = w.with->name.name;
    b->params = p.all;
    b->type = types_.type_exp(*w.with->type, sizes);
    finishing_.finish(state);
    b->type = vars_.zonk(b->type, Zonk::kFinal);
    b->ext = sizes.ext;
    b->universals = sizes.universals;
    b->source = w.with->type.get();
    b->source_env = w.env;
  });
  return b;
}

// The module's type of that name, or null after an error.
TypeBinding* Modules::matching_type(const std::string& name, size_t params, const Mod& mod,
                                    const Matching& m) {
  TypeBinding* impl = scopes_.find_outside(mod.env->types, name);
  if (!impl) {
    reports_.error(m.range, "Module does not define a type named \"" + m.path + name + "\".");
    return nullptr;
  }
  lookup_.sound(impl);
  if (reports_.failed()) return nullptr;
  if (impl->params.size() == params) return impl;
  other_parameters(name, m);
  return nullptr;
}

void Modules::other_parameters(const std::string& type, const Matching& m) {
  reports_.error(m.range, "Module defines type " + m.path + type +
                              " with other parameters than the module type requires.");
}

// The module type says what the type is: the module's must be the same.
void Modules::match_abbreviation(const TypeBinding& want, const Mod& mod, const Matching& m) {
  if (reports_.failed()) return;
  const TypeBinding* impl = matching_type(want.name, want.params.size(), mod, m);
  if (!impl) return;
  core::Subst subst;
  for (size_t i = 0; i < want.params.size(); i++) {
    const auto* t = std::get_if<TyVarId>(&want.params[i]);
    const auto* other = std::get_if<TyVarId>(&impl->params[i]);
    if (t && other) subst.types[*t] = core::make_type(core::TParam{*other});
    const auto* size = std::get_if<VarId>(&want.params[i]);
    const auto* other_size = std::get_if<VarId>(&impl->params[i]);
    if (size && other_size) subst.sizes[*size] = Size::of_var(*other_size);
  }
  // Existential sizes are the same if they are in the same places.
  for (VarId v : want.ext) subst.sizes[v] = Size::of_var(vars_.new_flex(vars_.name(v)));
  const TypePtr wanted =
      core::substitute(core::look_through(want.type, *vars_.names().abstract_types), subst);
  const TypePtr have = core::look_through(impl->type, *vars_.names().abstract_types);
  bool same = false;
  fn_.inside({}, [&](FnState&) { same = infer_.unify(wanted, have); });
  if (same) return;
  const std::string name = "\n  type " + m.path + want.name + " = ";
  reports_.error(m.range, "Module defines" + name + infer_.type_text(have) +
                              "\nbut module type requires" + name + infer_.type_text(wanted));
}

void Modules::match_type(const syntax::SpecType& spec, const Mod& mod, std::vector<Env*> outs,
                         const Matching& m, const std::vector<With>& withs) {
  const std::string& name = spec.name;
  auto add = [&](TypeBinding* b) {
    for (Env* o : outs) scopes_.bind(o->types, name, b, false);
  };
  for (const With& w : withs) {
    if (w.depth != w.with->name.quals.size() || w.with->name.name != name) continue;
    TypeBinding* b = refined_type(w);
    match_abbreviation(*b, mod, m);
    return add(b);
  }
  TypeBinding* impl = matching_type(name, spec.params.size(), mod, m);
  if (!impl) return;
  for (size_t i = 0; i < spec.params.size(); i++) {
    const auto* type = std::get_if<TyVarId>(&impl->params[i]);
    const bool is_type = spec.params[i].kind == syntax::TypeParam::kType;
    if (is_type != (type != nullptr) || (type && vars_.lifted(*type) < spec.params[i].lifted)) {
      return other_parameters(name, m);
    }
  }
  if (impl->lifted > spec.lifted) {
    const bool full = impl->lifted == syntax::Liftedness::kFullyLifted;
    reports_.error(m.range,
                   "Module defines\n  type" + std::string(full ? "^ " : "~ ") + m.path + name +
                       "\nbut module type requires a type that is non-lifted" +
                       (spec.lifted == syntax::Liftedness::kUnlifted ? "." : ", or size-lifted."));
    return;
  }
  check_constructive(spec, *impl, m);
  if (m.seal == Seal::kTransparent) return add(impl);
  core::Subst unknown;
  for (VarId v : impl->ext) unknown.sizes[v] = Size::any();
  for (VarId v : impl->universals) unknown.sizes[v] = Size::any();
  core::AbstractType abstract{name, impl->params, core::substitute(impl->type, unknown)};
  const core::AbstractId id = vars_.new_abstract(std::move(abstract), spec.lifted);
  TypeBinding* b = scopes_.new_type();
  b->name = name;
  b->defined = impl->defined;
  core::TAbstract type{id, {}};
  for (const auto& p : impl->params) {
    if (std::holds_alternative<VarId>(p)) {
      VarId v = vars_.new_var("n");
      b->params.emplace_back(v);
      type.args.emplace_back(Size::of_var(v));
    } else {
      TyVarId t = vars_.new_tyvar("a", syntax::Liftedness::kFullyLifted);
      b->params.emplace_back(t);
      type.args.emplace_back(core::make_type(core::TParam{t}));
    }
  }
  b->type = core::make_type(std::move(type));
  b->lifted = spec.lifted;
  add(b);
}

/// The shape of a value of an abstract type must say what the type's sizes are.
void Modules::check_constructive(const syntax::SpecType& spec, const TypeBinding& impl,
                                 const Matching& m) {
  std::unordered_set<VarId> known;
  core::whole_sizes(impl.type, known);
  for (const auto& p : impl.params) {
    const auto* size = std::get_if<VarId>(&p);
    if (!size || known.count(*size)) continue;
    reports_.error(m.range,
                   "The type " + m.path + spec.name + " = " + infer_.type_text(impl.type) +
                       "\ncannot be made abstract, because its size parameter \"" +
                       vars_.name(*size) +
                       "\" is not used constructively: no array in it has\njust that size.");
    return;
  }
}

void Modules::match_value(const syntax::SpecVal& v, EnvRef env, const Mod& mod,
                          std::vector<Env*> outs, const Matching& m) {
  ValBinding* impl = scopes_.find_outside(mod.env->vals, v.name);
  if (!impl) {
    reports_.error(m.range, "Module does not define a value named \"" + m.path + v.name + "\".");
    return;
  }
  ValBinding* b = scopes_.new_val();
  b->range = m.range;
  b->defined = impl->defined;
  if (!b->defined.doc && v.doc) b->defined.doc = &*v.doc;
  b->state = ValBinding::State::kLazy;
  b->force = [this, &v, env, impl, range = m.range, name = m.path + v.name](ValBinding& out) {
    lookup_.force(*impl);
    if (reports_.failed()) return;
    out.scheme = types_.spec_scheme(v, env);
    if (reports_.failed()) return;
    if (impl->broken) {
      out.var = vars_.new_var(v.name);
      return;
    }
    narrow(out, *impl, name, range);
  };
  if (!m.lazy) lookup_.force(*b);
  for (Env* o : outs) scopes_.bind(o->vals, v.name, b, false);
}

/// For messages: the abstract types of a module called `name` are `name.t`.
void Modules::name_abstract_types(const Mod& mod, const std::string& name, int depth) {
  constexpr int kMaxDepth = 4;
  if (!mod.env || depth > kMaxDepth) return;
  for (const auto& [type, versions] : mod.env->types) {
    const auto* abstract = std::get_if<core::TAbstract>(&versions.entries.back().what->type->node);
    if (abstract) vars_.name_abstract(abstract->id, name + "." + type);
  }
  for (const auto& [part, versions] : mod.env->mods) {
    const ModBinding& m = *versions.entries.back().what;
    if (m.state == ModBinding::State::kReady)
      name_abstract_types(m.mod, name + "." + part, depth + 1);
  }
}

}  // namespace kenaz::check

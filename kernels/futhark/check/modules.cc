// Declarations and modules.
#include <set>

#include "kernels/futhark/check/modules.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

namespace {

/// What a declaration declares: in which of the three name spaces, as which kind of thing, where.
struct Declared {
  std::string space, kind, name;
  SourceRange range;
};

/// Null members where nothing counts: names that are local, opened or imported may be hidden.
Declared declared(const syntax::Dec& dec) {
  if (const auto* v = std::get_if<syntax::DecVal>(&dec.node)) {
    return {"value", "value", v->name, v->name_range};
  }
  if (const auto* m = std::get_if<syntax::DecMod>(&dec.node)) {
    return {"value", "module", m->name, dec.range};
  }
  if (const auto* t = std::get_if<syntax::DecType>(&dec.node)) {
    return {"type", "type", t->bind.name, dec.range};
  }
  if (const auto* m = std::get_if<syntax::DecModType>(&dec.node)) {
    return {"module type", "module type", m->name, dec.range};
  }
  return {};
}

Declared declared(const syntax::Spec& spec) {
  if (const auto* v = std::get_if<syntax::SpecVal>(&spec.node)) {
    return {"value", "value", v->name, spec.range};
  }
  if (const auto* m = std::get_if<syntax::SpecMod>(&spec.node)) {
    return {"value", "module", m->name, spec.range};
  }
  if (const auto* t = std::get_if<syntax::SpecType>(&spec.node)) {
    return {"type", "type", t->name, spec.range};
  }
  if (const auto* t = std::get_if<syntax::SpecTypeAbbr>(&spec.node)) {
    return {"type", "type", t->bind.name, spec.range};
  }
  return {};
}

/// The message for a name that is there already, or empty.
std::string duplicate(const Declared& d, std::map<std::string, SourceRange>& seen) {
  if (d.name.empty()) return "";
  const auto [it, added] = seen.emplace(d.space + " " + d.name, d.range);
  if (added) return "";
  return "Duplicate definition of " + d.kind + " \"" + d.name + "\".  Previously defined at " +
         it->second.str() + ".";
}

}  // namespace

void Modules::declarations(FileState& file) {
  const Restore assuming(assuming_, false);
  file.busy = true;
  fn_.inside(scopes_.now(file.env), [&](FnState&) {
    declarations(file.program.decs, {&file, file.env, true});
  });
  file.busy = false;
}

void Modules::declarations(const std::vector<syntax::DecPtr>& decs, const DecContext& ctx) {
  std::map<std::string, SourceRange> seen;
  for (const auto& dec : decs) {
    const Declared d = declared(*dec);
    if (const std::string twice = duplicate(d, seen); !twice.empty())
      reports_.error(d.range, twice);
    if (!reports_.failed()) declaration(*dec, ctx, false);
    if (reports_.recover()) bind_broken(*dec, ctx, false);
  }
}

void Modules::check_duplicate_specs(const syntax::ModTypeSpecs& specs) {
  std::map<std::string, SourceRange> seen;
  for (const auto& spec : specs.specs) {
    const Declared d = declared(*spec);
    if (const std::string twice = duplicate(d, seen); !twice.empty())
      reports_.error(d.range, twice);
  }
}

void Modules::declaration(const syntax::Dec& dec, const DecContext& ctx, bool local) {
  std::visit(
      Overloaded{[&](const syntax::DecVal& d) { declare_value(d, dec, ctx, local); },
                 [&](const syntax::DecType& d) {
                   TypeBinding* t = types_.type_bind(d.bind, scopes_.now(ctx.env));
                   t->defined = {d.bind.name_range, dec.doc ? &*dec.doc : nullptr};
                   naming_.seen(d.bind.name_range, d.bind.name, t);
                   scopes_.bind(ctx.env->types, d.bind.name, t, local);
                 },
                 [&](const syntax::DecModType& d) {
                   ModTypeBinding* b = scopes_.new_mod_type({d.type.get(), scopes_.now(ctx.env)});
                   b->defined = {d.name_range, dec.doc ? &*dec.doc : nullptr};
                   naming_.seen(d.name_range, d.name, b);
                   if (!ctx.file || !ctx.file->prelude) assume(*b, {});
                   scopes_.bind(ctx.env->mod_types, d.name, b, local);
                 },
                 [&](const syntax::DecMod& d) { declare_module(d, dec, ctx, local); },
                 [&](const syntax::DecOpen& d) {
                   Mod m = mod_exp(*d.mod, scopes_.now(ctx.env), ctx.file);
                   if (reports_.failed()) return;
                   if (!m.env) {
                     reports_.error(dec.range, "Cannot open a parametric module.");
                     return;
                   }
                   scopes_.open_into(ctx.env, *m.env, local);
                 },
                 [&](const syntax::DecImport& d) {  // short for: local open import
                   const bool user = ctx.file && !ctx.file->prelude;
                   if (user && d.path.rfind("/prelude/", 0) == 0) {
                     reports_.error(dec.range, d.path +
                                                   " may not be explicitly imported: its names "
                                                   "are known everywhere.");
                   }
                   if (reports_.failed()) return;
                   FileState* f = import_(d.path, ctx.file, dec.range);
                   if (f && !reports_.failed()) scopes_.open_into(ctx.env, *f->env, true);
                 },
                 [&](const syntax::DecLocal& d) { declaration(*d.inner, ctx, true); }},
      dec.node);
}

void Modules::declare_value(const syntax::DecVal& d, const syntax::Dec& dec, const DecContext& ctx,
                            bool local) {
  ValBinding* v = scopes_.new_val();
  v->range = d.name_range;
  v->defined = {d.name_range, dec.doc ? &*dec.doc : nullptr};
  naming_.seen(d.name_range, d.name, v);
  const EnvRef env = scopes_.now(ctx.env);
  const bool in_root = ctx.file && ctx.file->root;
  const bool lazy = ctx.file && ctx.file->prelude;
  if (d.name == "&&" || d.name == "||") {
    reports_.error(d.name_range,
                   "The operator " + d.name +
                       " may not be redefined: its second operand is only evaluated if it "
                       "matters.");
    return;
  }
  if (d.is_entry && !ctx.top && in_root) {
    reports_.error(d.name_range, "Entry points may not be declared inside modules.");
    return;
  }
  const auto work = [this, &d, &dec, env, lazy, assumed = assuming_](ValBinding& out) {
    const Restore lenient(comparing_.lenient, lazy);
    const Restore depth(fn_.depth(), lazy ? 0 : fn_.depth());
    const Restore assuming(assuming_, assumed);
    definitions_.check_value(d, dec, env, out, !assumed);
  };
  v->state = ValBinding::State::kLazy;
  v->force = work;
  if (!lazy) lookup_.force(*v);
  if (reports_.failed()) return;
  scopes_.bind(ctx.env->vals, d.name, v, local);
  if (in_root && ctx.top && (d.is_entry || (d.name == "main" && !local))) {
    entries_.add(d, dec, *definitions_.last_def(), env);
    reports_.recover();  // the definition itself is right
  }
}

void Modules::declare_module(const syntax::DecMod& d, const syntax::Dec& dec, const DecContext& ctx,
                             bool local) {
  ModBinding* m = scopes_.new_mod();
  m->defined = {d.name_range, dec.doc ? &*dec.doc : nullptr};
  naming_.seen(d.name_range, d.name, m);
  const EnvRef env = scopes_.now(ctx.env);
  FileState* file = ctx.file;
  m->state = ModBinding::State::kLazy;
  m->force = [this, &d, env, file, assumed = assuming_](ModBinding& out) {
    const Restore assuming(assuming_, assumed);
    if (!d.params.empty()) {
      out.mod = functor_of(d.params, 0, d.ret.get(), *d.body, env, file);
      const size_t before = reports_.put_aside();
      check_functor(*out.mod.functor, d.body->range);
      out.broken = reports_.put_aside() > before;  // its uses would repeat that
      return;
    }
    out.mod = mod_exp(*d.body, env, file);
    if (d.ret && !reports_.failed() && !(file && file->prelude) && applying_ == 0) {
      assume({d.ret.get(), env}, {});
    }
    if (d.ret && !reports_.failed()) {
      out.mod =
          ascribe(out.mod, {d.ret.get(), env}, Seal::kOpaque, d.body->range, file && file->prelude);
    }
  };
  if (!file || !file->prelude) {
    lookup_.force(*m);
    if (applying_ == 0) name_abstract_types(m->mod, d.name);
  }
  scopes_.bind(ctx.env->mods, d.name, m, local);
}

Mod Modules::functor_of(const std::vector<syntax::ModParam>& params, size_t at,
                        const syntax::ModTypeExp* ret, const syntax::ModExp& body, EnvRef env,
                        FileState* file) {
  Functor& f = scopes_.new_functor();
  f.param = params[at].name;
  f.param_type = {params[at].type.get(), env};
  f.env = env;
  f.body = &body;
  f.ret = ret;
  f.more = &params;
  f.next = at + 1;
  f.file = file;
  return {nullptr, &f};
}

Mod Modules::apply_functor(const Functor& f, const Mod& arg, const SourceRange& range) {
  if (reports_.failed()) return {};
  if (++functor_applications_ > kMaxFunctors) {
    reports_.error(range, "Too many applications of parametric modules in this program.");
    return {};
  }
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) {
    reports_.error(range, "Modules are nested too deeply.");
    return {};
  }
  const bool lazy = f.file && f.file->prelude;
  Mod seen = ascribe(arg, f.param_type, Seal::kTransparent, range, lazy);
  if (reports_.failed()) return {};
  Env* env = scopes_.new_env(f.env);
  ModBinding* m = scopes_.new_mod();
  m->mod = seen;
  scopes_.bind(env->mods, f.param, m, false);
  if (assuming_ && applying_ == 0) name_abstract_types(seen, f.param);
  const EnvRef inside = scopes_.now(env);
  if (f.inner) {
    Mod result = apply_functor(*f.inner, arg, range);
    if (reports_.failed() || !f.ret) return result;
    return ascribe(result, {f.ret, inside}, Seal::kOpaque, range, lazy);
  }
  if (!f.body) return assume({f.ret, inside}, {});
  if (f.more && f.next < f.more->size()) {
    return functor_of(*f.more, f.next, f.ret, *f.body, inside, f.file);
  }
  Mod result = mod_exp(*f.body, inside, f.file);
  if (reports_.failed() || !f.ret) return result;
  return ascribe(result, {f.ret, inside}, Seal::kOpaque, range, lazy);
}

Mod Modules::mod_exp(const syntax::ModExp& m, EnvRef env, FileState* file) {
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(m.range, "Modules are nested too deeply.");
  if (reports_.failed()) return {};
  const bool lazy = file && file->prelude;
  return std::visit(
      Overloaded{[&](const syntax::ModVar& v) -> Mod {
                   if (!lazy && v.name.quals.empty() && v.name.name == "intrinsics") {
                     reports_.error(
                         m.range, "The 'intrinsics' module may not be used in module expressions.");
                     return {};
                   }
                   const Mod* found = nullptr;
                   fn_.inside(env, [&](FnState&) { found = find_mod(v.name); });
                   return found ? *found : Mod{};
                 },
                 [&](const syntax::ModParens& p) { return mod_exp(*p.inner, env, file); },
                 [&](const syntax::ModDecs& d) -> Mod {
                   Env* inside = scopes_.new_env(env);
                   declarations(d.decs, {file, inside, false});
                   return {inside, nullptr};
                 },
                 [&](const syntax::ModImport& i) -> Mod {
                   FileState* f = import_(i.path, file, m.range);
                   return f ? Mod{f->env, nullptr} : Mod{};
                 },
                 [&](const syntax::ModApply& a) -> Mod {
                   Mod fun = mod_exp(*a.fun, env, file);
                   if (reports_.failed()) return {};
                   if (!fun.functor) {
                     reports_.error(a.fun->range, "Cannot apply non-parametric module.");
                     return {};
                   }
                   Mod arg = mod_exp(*a.arg, env, file);
                   const Reports::Quiet quiet(reports_);
                   applying_++;
                   Mod result = apply_functor(*fun.functor, arg, m.range);
                   applying_--;
                   return result;
                 },
                 [&](const syntax::ModAscript& a) -> Mod {
                   Mod inner = mod_exp(*a.inner, env, file);
                   if (reports_.failed()) return {};
                   return ascribe(inner, {a.type.get(), env}, Seal::kOpaque, m.range, lazy);
                 },
                 [&](const syntax::ModLambda& l) -> Mod {
                   Functor& f = scopes_.new_functor();
                   f.param = l.param.name;
                   f.param_type = {l.param.type.get(), env};
                   f.env = env;
                   f.body = l.body.get();
                   f.ret = l.ret.get();
                   f.file = file;
                   check_functor(f, m.range);
                   return {nullptr, &f};
                 }},
      m.node);
}

}  // namespace kenaz::check

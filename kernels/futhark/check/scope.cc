// Names: environments, locals, qualified lookup.
#include "kernels/futhark/check/scope.h"

#include "kernels/futhark/check/checker.h"
#include "protocol/base/check.h"

namespace kenaz::check {

Env* Scopes::new_env(EnvRef parent) {
  Env& env = envs_.emplace_back();
  env.parent = parent;
  return &env;
}

ModTypeBinding* Scopes::new_mod_type(ModTypeBinding made) {
  mod_types_.push_back(std::move(made));
  return &mod_types_.back();
}

void Scopes::open_into(Env* target, const Env& source, bool local) {
  auto copy = [&](const auto& from, auto& to) {
    for (const auto& [name, versions] : from) {
      for (auto it = versions.entries.rbegin(); it != versions.entries.rend(); ++it) {
        if (it->local) continue;
        bind(to, name, it->what, local);
        break;
      }
    }
  };
  copy(source.vals, target->vals);
  copy(source.types, target->types);
  copy(source.mods, target->mods);
  copy(source.mod_types, target->mod_types);
}

void Checker::force(ValBinding& v) {
  if (v.state == ValBinding::State::kReady) return;
  if (v.state == ValBinding::State::kBusy) {
    reports_.error(v.range, "This definition depends on itself.");
    return;
  }
  v.state = ValBinding::State::kBusy;
  auto work = std::move(v.force);
  v.force = nullptr;
  work(v);
  v.state = ValBinding::State::kReady;
  if (!v.scheme.type) v.scheme.type = unit_;  // only after an error
}

void Checker::force(ModBinding& m) {
  if (m.state == ModBinding::State::kReady) return;
  if (m.state == ModBinding::State::kBusy) {
    reports_.error({}, "This module depends on itself.");
    return;
  }
  m.state = ModBinding::State::kBusy;
  auto work = std::move(m.force);
  m.force = nullptr;
  work(m);
  m.state = ModBinding::State::kReady;
}

// The structure that the first `count` of `quals` name, or null. A local M.(..) counts as scope.
Env* Checker::module_of(const std::vector<std::string>& quals, size_t count) {
  CHECK(count > 0);
  ModBinding* m = nullptr;
  for (auto it = fn_->locals.rbegin(); it != fn_->locals.rend() && !m; ++it) {
    if (it->opened) m = scopes_.find_outside(it->opened->mods, quals[0]);
  }
  if (!m) m = Scopes::find_scoped(&Env::mods, fn_->env, quals[0]);
  for (size_t i = 0; m; i++) {
    force(*m);
    sound(m);
    if (!m->mod.env) return nullptr;
    if (i + 1 == count) return m->mod.env;
    m = scopes_.find_outside(m->mod.env->mods, quals[i + 1]);
  }
  return nullptr;
}

const Mod* Checker::find_mod(const syntax::QualName& name, bool report) {
  ModBinding* m = nullptr;
  if (!name.quals.empty()) {
    Env* env = module_of(name.quals, name.quals.size());
    if (env) m = scopes_.find_outside(env->mods, name.name);
  } else {
    for (auto it = fn_->locals.rbegin(); it != fn_->locals.rend() && !m; ++it) {
      if (it->opened) m = scopes_.find_outside(it->opened->mods, name.name);
    }
    if (!m) m = Scopes::find_scoped(&Env::mods, fn_->env, name.name);
  }
  if (!m) {
    if (report) {
      seen_path(name, name.quals.size(), Meaning());
      if (names_missing_) reports_.abandon();
      reports_.error(name.range,
                     "Unknown module \"" + name.name + "\"." + suggest_module(name.name));
    }
    return nullptr;
  }
  seen_path(name, name.quals.size(), m);
  force(*m);
  sound(m);
  return &m->mod;
}

// The value that a prefix of quals + name denotes; `used` is how many of these words it took (the
// rest are record fields). The longest prefix wins: a variable may be called like a module.
ValBinding* Checker::find_value(const syntax::QualName& name, size_t* used) {
  ValBinding* v = look_up_value(name, used);
  seen_path(name, v ? *used - 1 : name.quals.size(), v ? Meaning(v) : Meaning());
  return v;
}

ValBinding* Checker::look_up_value(const syntax::QualName& name, size_t* used) {
  std::vector<std::string> words = name.quals;
  words.push_back(name.name);
  for (size_t count = name.quals.size(); count > 0; count--) {
    Env* env = module_of(name.quals, count);
    if (!env) continue;
    if (ValBinding* v = scopes_.find_outside(env->vals, words[count])) {
      *used = count + 1;
      return v;
    }
  }
  *used = 1;
  for (auto it = fn_->locals.rbegin(); it != fn_->locals.rend(); ++it) {
    if (it->val && it->name == words[0]) return it->val;
    if (it->opened) {
      if (ValBinding* v = scopes_.find_outside(it->opened->vals, words[0])) return v;
    }
  }
  return Scopes::find_scoped(&Env::vals, fn_->env, words[0]);
}

TypeBinding* Checker::find_type(const syntax::QualName& name) {
  TypeBinding* t = look_up_type(name);
  seen_path(name, name.quals.size(), t ? Meaning(t) : Meaning());
  return t;
}

TypeBinding* Checker::look_up_type(const syntax::QualName& name) {
  if (!name.quals.empty()) {
    Env* env = module_of(name.quals, name.quals.size());
    return env ? scopes_.find_outside(env->types, name.name) : nullptr;
  }
  for (auto it = fn_->locals.rbegin(); it != fn_->locals.rend(); ++it) {
    if (it->type && it->name == name.name) return it->type;
    if (it->opened) {
      if (TypeBinding* t = scopes_.find_outside(it->opened->types, name.name)) return t;
    }
  }
  return Scopes::find_scoped(&Env::types, fn_->env, name.name);
}

ModTypeBinding* Checker::find_mod_type(const syntax::QualName& name) {
  ModTypeBinding* t = nullptr;
  if (!name.quals.empty()) {
    Env* env = module_of(name.quals, name.quals.size());
    if (env) t = scopes_.find_outside(env->mod_types, name.name);
  } else {
    t = Scopes::find_scoped(&Env::mod_types, fn_->env, name.name);
  }
  seen_path(name, name.quals.size(), t ? Meaning(t) : Meaning());
  return t;
}

void Checker::local_value(const std::string& name, VarId var, TypePtr type,
                          const SourceRange& range) {
  ValBinding* v = scopes_.new_val();
  v->var = var;
  vars_[var].named = true;
  v->scheme.type = std::move(type);
  v->defined.range = range;
  fn_->locals.push_back({name, v, nullptr, nullptr});
  seen(range, name, v);
}

void Checker::local_type(const std::string& name, TyVarId id, const SourceRange& range) {
  TypeBinding* t = scopes_.new_type();
  t->name = name;
  t->type = core::make_type(core::TParam{id});
  t->defined.range = range;
  fn_->locals.push_back({name, nullptr, t, nullptr});
  seen(range, name, t);
}

}  // namespace kenaz::check

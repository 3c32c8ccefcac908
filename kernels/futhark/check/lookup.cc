#include "kernels/futhark/check/lookup.h"

#include <utility>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/check.h"

namespace kenaz::check {

/// Completes a binding that waits for its first use. False: it is being completed.
template <class Binding>
static bool complete(Binding& b) {
  using State = typename Binding::State;
  if (b.state == State::kBusy) return false;
  b.state = State::kBusy;
  const auto work = std::exchange(b.force, nullptr);
  work(b);
  b.state = State::kReady;
  return true;
}

void Lookup::force(ValBinding& v) {
  if (v.state == ValBinding::State::kReady) return;
  if (!complete(v)) return reports_.error(v.range, "This definition depends on itself.");
  if (!v.scheme.type) v.scheme.type = core::tuple_type({});  // only after an error
}

void Lookup::force(ModBinding& m) {
  if (m.state == ModBinding::State::kReady) return;
  if (!complete(m)) reports_.error({}, "This module depends on itself.");
}

// The module that a name without modules before it means, or null. Values and modules share their
// names, so a local value hides a module: point.x is its field then.
ModBinding* Lookup::look_up_mod(const std::string& name) {
  for (auto it = here_->locals.rbegin(); it != here_->locals.rend(); ++it) {
    if (it->val && it->name == name) return nullptr;
    if (!it->opened) continue;
    if (ModBinding* m = scopes_.find_outside(it->opened->mods, name)) return m;
    if (scopes_.find_outside(it->opened->vals, name) != nullptr) return nullptr;
  }
  return Scopes::find_scoped(&Env::mods, here_->env, name);
}

// The structure that the first `count` of `quals` name, or null. A local M.(..) counts as scope.
Env* Lookup::module_of(const std::vector<std::string>& quals, size_t count) {
  CHECK(count > 0);
  ModBinding* m = look_up_mod(quals[0]);
  for (size_t i = 0; m; i++) {
    force(*m);
    sound(m);
    if (!m->mod.env) return nullptr;
    if (i + 1 == count) return m->mod.env;
    m = scopes_.find_outside(m->mod.env->mods, quals[i + 1]);
  }
  return nullptr;
}

ModBinding* Lookup::look_up_mod(const syntax::QualName& name) {
  if (name.quals.empty()) return look_up_mod(name.name);
  Env* env = module_of(name.quals, name.quals.size());
  return env ? scopes_.find_outside(env->mods, name.name) : nullptr;
}

// The value that a prefix of quals + name denotes; `used` is how many of these words it took (the
// rest are record fields). The longest prefix wins: a variable may be called like a module.
ValBinding* Lookup::look_up_value(const syntax::QualName& name, size_t* used) {
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
  for (auto it = here_->locals.rbegin(); it != here_->locals.rend(); ++it) {
    if (it->val && it->name == words[0]) return it->val;
    if (it->opened) {
      if (ValBinding* v = scopes_.find_outside(it->opened->vals, words[0])) return v;
    }
  }
  return Scopes::find_scoped(&Env::vals, here_->env, words[0]);
}

TypeBinding* Lookup::look_up_type(const syntax::QualName& name) {
  if (!name.quals.empty()) {
    Env* env = module_of(name.quals, name.quals.size());
    return env ? scopes_.find_outside(env->types, name.name) : nullptr;
  }
  for (auto it = here_->locals.rbegin(); it != here_->locals.rend(); ++it) {
    if (it->type && it->name == name.name) return it->type;
    if (it->opened) {
      if (TypeBinding* t = scopes_.find_outside(it->opened->types, name.name)) return t;
    }
  }
  return Scopes::find_scoped(&Env::types, here_->env, name.name);
}

ModTypeBinding* Lookup::look_up_mod_type(const syntax::QualName& name) {
  if (name.quals.empty()) return Scopes::find_scoped(&Env::mod_types, here_->env, name.name);
  Env* env = module_of(name.quals, name.quals.size());
  return env ? scopes_.find_outside(env->mod_types, name.name) : nullptr;
}

}  // namespace kenaz::check

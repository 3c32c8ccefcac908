// The environments of a program, all that they bind, and lookup in one environment and its parents.
#pragma once

#include <deque>
#include <string>

#include "kernels/futhark/check/env.h"

namespace kenaz::check {

/// Owns environments, bindings and parametric modules: pointers to them hold for as long as it
/// lives. Each binding gets a stamp; an EnvRef sees what was bound before it was made.
class Scopes {
 public:
  EnvRef now(Env* env) const { return {env, stamp_}; }
  uint32_t stamp() const { return stamp_; }

  Env* new_env(EnvRef parent);
  ValBinding* new_val() { return &vals_.emplace_back(); }
  TypeBinding* new_type() { return &types_.emplace_back(); }
  ModBinding* new_mod() { return &mods_.emplace_back(); }
  ModTypeBinding* new_mod_type(ModTypeBinding made);
  Functor& new_functor() { return functors_.emplace_back(); }

  /// `local`: not seen from outside of the module.
  template <class T>
  void bind(NameMap<T>& map, const std::string& name, T* what, bool local) {
    map[name].entries.push_back({++stamp_, local, what});
  }
  /// Binds in `target` all that `source` shows to the outside.
  void open_into(Env* target, const Env& source, bool local);

  /// What the name is in this map, or null. `outside`: seen from outside of the module.
  template <class T>
  static T* find(const NameMap<T>& map, const std::string& name, uint32_t stamp, bool outside);
  /// What the name is for the outside now, or null.
  template <class T>
  T* find_outside(const NameMap<T>& map, const std::string& name) const {
    return find(map, name, stamp_, true);
  }
  /// What the name is in `ref` or the environments around it, or null.
  template <class T>
  static T* find_scoped(NameMap<T> Env::*map, EnvRef ref, const std::string& name);

 private:
  std::deque<Env> envs_;
  std::deque<ValBinding> vals_;
  std::deque<TypeBinding> types_;
  std::deque<ModBinding> mods_;
  std::deque<ModTypeBinding> mod_types_;
  std::deque<Functor> functors_;
  uint32_t stamp_ = 1;
};

template <class T>
T* Scopes::find(const NameMap<T>& map, const std::string& name, uint32_t stamp, bool outside) {
  auto it = map.find(name);
  if (it == map.end()) return nullptr;
  const auto& entries = it->second.entries;
  for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
    if (e->stamp <= stamp && !(outside && e->local)) return e->what;
  }
  return nullptr;
}

template <class T>
T* Scopes::find_scoped(NameMap<T> Env::*map, EnvRef ref, const std::string& name) {
  while (ref.env) {
    if (T* found = find(ref.env->*map, name, ref.stamp, false)) return found;
    ref = ref.env->parent;
  }
  return nullptr;
}

}  // namespace kenaz::check

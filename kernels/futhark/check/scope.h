// Lookup in one environment and its parents.
#pragma once

#include "kernels/futhark/check/checker.h"
#include "protocol/base/check.h"

namespace kenaz::check {

/// `outside`: seen from outside the module, so without its local names.
template <class T>
T* Checker::find(const NameMap<T>& map, const std::string& name, uint32_t stamp, bool outside) {
  auto it = map.find(name);
  if (it == map.end()) return nullptr;
  const auto& entries = it->second.entries;
  for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
    if (e->stamp <= stamp && !(outside && e->local)) return e->what;
  }
  return nullptr;
}

template <class T>
T* Checker::sound(T* found) {
  if (found && found->broken) abandon();
  return found;
}

template <class T>
T* Checker::find_scoped(NameMap<T> Env::*map, EnvRef ref, const std::string& name) {
  while (ref.env) {
    if (T* found = find(ref.env->*map, name, ref.stamp, false)) return found;
    ref = ref.env->parent;
  }
  return nullptr;
}

template <class T>
void Checker::bind(NameMap<T>& map, const std::string& name, T* what, bool local) {
  map[name].entries.push_back({++stamp_, local, what});
}

}  // namespace kenaz::check

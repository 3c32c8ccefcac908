#include "kernels/futhark/check/scope.h"

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

}  // namespace kenaz::check

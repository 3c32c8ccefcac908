// What names mean at the place that is being checked: local names, the module around them, and the
// modules before a name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/reports.h"
#include "kernels/futhark/check/scope.h"

namespace kenaz::check {

/// A local name, or a module opened in an expression.
struct Local {
  std::string name;
  ValBinding* val = nullptr;
  TypeBinding* type = nullptr;
  Env* opened = nullptr;
};

/// The place that is being checked. Local names are pushed as they come into scope, and removed by
/// whoever pushed them; the last one of a name hides the others.
struct Surroundings {
  EnvRef env;
  std::vector<Local> locals;
};

class Lookup {
 public:
  /// Both must outlive this.
  Lookup(const Scopes& scopes, Reports& reports) : scopes_(scopes), reports_(reports) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  /// Names are looked up in `here` from now on. Returns what was before, to be made current again.
  Surroundings* enter(Surroundings* here) { return std::exchange(here_, here); }
  Surroundings& here() { return *here_; }

  // ---- what the name means, or null if it is unknown
  /// The value that a prefix of quals + name denotes; `used` is how many of these words it took
  /// (the rest are record fields). The longest prefix wins: a variable may be called like a module.
  ValBinding* look_up_value(const syntax::QualName& name, size_t* used);
  TypeBinding* look_up_type(const syntax::QualName& name);
  ModBinding* look_up_mod(const syntax::QualName& name);
  ModBinding* look_up_mod(const std::string& name);
  ModTypeBinding* look_up_mod_type(const syntax::QualName& name);
  /// The structure that the first `count` of `quals` name, or null. Modules on the way that wait
  /// for their first use are checked. A local M.(..) counts as scope.
  Env* module_of(const std::vector<std::string>& quals, size_t count);

  /// To be called when something could not be opened, so that its names are unknown.
  void miss_names() { names_missing_ = true; }
  /// To be called before an unknown name is reported: ends this declaration without an error if the
  /// name may be one of those that are missing.
  void unknown() {
    if (names_missing_) reports_.abandon();
  }

  // ---- bindings that wait for their first use
  /// Completes the binding; reports an error if it depends on itself.
  void force(ValBinding& v);
  void force(ModBinding& m);
  /// What was found, unless it is broken: then this declaration ends without an error of its own.
  template <class T>
  T* sound(T* found) {
    if (found && found->broken) reports_.abandon();
    return found;
  }

 private:
  const Scopes& scopes_;
  Reports& reports_;
  bool names_missing_ = false;
  Surroundings outermost_;
  Surroundings* here_ = &outermost_;
};

}  // namespace kenaz::check

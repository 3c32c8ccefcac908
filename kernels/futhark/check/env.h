// What names mean: values, types, modules and module types.
//
// An Env is the inside of one module (or file). Bindings are never removed: every binding gets a
// stamp from one global counter, and a view of an Env (EnvRef) sees only what is older than its own
// stamp. So the environment that a functor closure or a postponed definition captured stays what
// it was, although declarations that follow go on adding to the same Env.
// All objects are owned by Scopes; pointers between them may be cyclic.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/futhark/check/type_mask.h"
#include "kernels/futhark/core/core.h"
#include "kernels/futhark/syntax/ast.h"

namespace kenaz::check {

struct Env;
struct FileState;
struct EnvRef {
  Env* env = nullptr;
  uint32_t stamp = 0;
};

/// Where a name is defined, and the documentation comment there; for editors only.
struct Defined {
  SourceRange range;
  const std::string* doc = nullptr;  // null: none
};

struct Scheme {
  std::vector<core::TyVarId> tparams;
  std::vector<core::VarId> sparams;
  core::TypePtr type;
};

/// What a use of the name becomes: an EVar or an EIntrinsic. `scheme` is the type seen here. If a
/// module type narrowed it, `targs` and `sargs` instantiate the definition's own parameters in
/// terms of the scheme's; otherwise those are the scheme's parameters themselves.
struct ValBinding {
  enum class State : uint8_t { kReady, kLazy, kBusy } state = State::kReady;
  bool is_intrinsic = false;
  bool is_self = false;  // the function being defined
  bool narrowed = false;
  core::VarId var;
  core::Intrinsic op{};
  TypeMask mask = kMaskAny;  // intrinsics: constraint on the first type parameter
  Scheme scheme;
  std::vector<core::TypePtr> targs;
  std::vector<core::Size> sargs;
  std::function<void(ValBinding&)> force;  // kLazy: completes the binding on first use
  SourceRange range;
  Defined defined;
  bool broken = false;        // its definition has an error, and nothing is known: see recover.cc
  bool type_written = false;  // the definition says of what type its value or result is
};

struct TypeBinding {
  std::string name;
  std::vector<std::variant<core::TyVarId, core::VarId>> params;
  core::TypePtr type;
  std::vector<core::VarId> ext;         // existential sizes: fresh at each use
  std::vector<core::VarId> universals;  // anonymous sizes of arrows' parameters: likewise
  syntax::Liftedness lifted = syntax::Liftedness::kUnlifted;
  // The definition as written, for the names of entry point types; may be null.
  const syntax::TypeExp* source = nullptr;
  EnvRef source_env;
  Defined defined;
  bool broken = false;
};

struct ModTypeBinding {
  const syntax::ModTypeExp* exp = nullptr;
  EnvRef env;
  Defined defined = {};
  bool broken = false;
};

struct Functor;
/// A structure or a functor; neither: an error was reported.
struct Mod {
  Env* env = nullptr;
  const Functor* functor = nullptr;
};

/// A module waiting for its argument. Either a body (checked anew at each application) or another
/// functor seen through a module type.
struct Functor {
  std::string param;
  ModTypeBinding param_type;
  EnvRef env;
  const syntax::ModExp* body = nullptr;
  const syntax::ModTypeExp* ret = nullptr;              // evaluated with the parameter in scope
  const std::vector<syntax::ModParam>* more = nullptr;  // further parameters, from index `next`
  size_t next = 0;
  const Functor* inner = nullptr;  // instead of body: apply this, then narrow to `ret`
  FileState* file = nullptr;       // where it was written
};

struct ModBinding {
  enum class State : uint8_t { kReady, kLazy, kBusy } state = State::kReady;
  Mod mod;
  std::function<void(ModBinding&)> force;
  Defined defined;
  bool broken = false;
};

template <class T>
struct Versions {
  struct Entry {
    uint32_t stamp;
    bool local;  // not visible from outside the module
    T* what;
  };
  std::vector<Entry> entries;
};
template <class T>
using NameMap = std::unordered_map<std::string, Versions<T>>;

struct Env {
  EnvRef parent;
  NameMap<ValBinding> vals;
  NameMap<TypeBinding> types;
  NameMap<ModBinding> mods;
  NameMap<ModTypeBinding> mod_types;
};

}  // namespace kenaz::check

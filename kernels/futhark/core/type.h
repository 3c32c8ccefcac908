// Types of checked Futhark programs. Immutable and shared.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/prim_type.h"

namespace kenaz::core {

using VarId = Id<struct VarTag>;       // term variables, size parameters, existential sizes
using TyVarId = Id<struct TyVarTag>;   // type parameters (rigid)
using AbstractId = Id<struct AbsTag>;  // abstract types made by module ascription
using MetaId = Id<struct MetaTag>;     // inference variables: only while checking

struct Type;
struct Exp;
using TypePtr = std::shared_ptr<const Type>;
using ExpPtr = std::shared_ptr<const Exp>;

/// One dimension. kAny is a size that nothing is known about (an empty `[]` before it gets a name).
/// kExp is an i64 expression over variables in scope where the type stands.
struct Size {
  enum Kind : uint8_t { kAny, kConst, kVar, kExp, kMeta } kind = kAny;
  int64_t constant = 0;
  VarId var;
  ExpPtr exp;
  MetaId meta;
  static Size any() { return {}; }
  static Size of_const(int64_t c) {
    Size s;
    s.kind = kConst;
    s.constant = c;
    return s;
  }
  static Size of_var(VarId v) {
    Size s;
    s.kind = kVar;
    s.var = v;
    return s;
  }
  static Size of_exp(ExpPtr e) {
    Size s;
    s.kind = kExp;
    s.exp = std::move(e);
    return s;
  }
};

struct TPrim {
  PrimType prim;
};
struct TParam {
  TyVarId id;
};
struct TMeta {
  MetaId id;
};  // never in a finished program
struct TArray {
  Size dim;
  TypePtr elem;
};  // elem may be an array
/// Records; a tuple has fields "0", "1", .. ; unit has none. Order: numeric fields by number, then
/// names alphabetically. This is the order of leaves everywhere.
struct TRecord {
  std::vector<std::pair<std::string, TypePtr>> fields;
};
/// Constructors sorted by name.
struct TSum {
  std::vector<std::pair<std::string, std::vector<TypePtr>>> constructors;
};
/// One parameter. `param` is valid if `ret` mentions the parameter's value as a size; `ext` are
/// existential sizes of `ret`. `consumes`: a `*` parameter.
struct TArrow {
  VarId param;
  bool consumes = false;
  TypePtr from;
  std::vector<VarId> ext;
  TypePtr to;
};
/// Abstract outside its module; `Checked::abstract_types` knows its representation.
struct TAbstract {
  AbstractId id;
  std::vector<std::variant<TypePtr, Size>> args;
};

struct Type {
  std::variant<TPrim, TParam, TMeta, TArray, TRecord, TSum, TArrow, TAbstract> node;
  bool unique = false;  // `*`: in results and parameters; ignored by unification
};

template <class T>
TypePtr make_type(T node, bool unique = false) {
  return std::make_shared<const Type>(Type{std::move(node), unique});
}

}  // namespace kenaz::core

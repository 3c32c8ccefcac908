// What an expression is worth while lowering: IR operands where they must exist at run time, and
// structure (records, sums, functions) that exists only here.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/futhark/core/core.h"
#include "kernels/futhark/core/leaves.h"
#include "kernels/ir/ir.h"

namespace kenaz::lower {

struct Value;
using V = std::shared_ptr<const Value>;
struct VarBind;
struct TyBind;

/// Existential sizes met while one function body is lowered. They become known when the expression
/// that introduces them is evaluated, which may be after an environment that needs them was made:
/// hence a mutable table, one per inlined body.
struct Frame {
  std::unordered_map<core::VarId, ir::Atom> ext;
  std::shared_ptr<Frame> parent;
};

/// Immutable: extending shares the rest. `unsafe`: lexically inside #[unsafe].
struct Env {
  std::shared_ptr<const VarBind> vars;
  std::shared_ptr<const TyBind> types;
  std::shared_ptr<Frame> frame;
  bool unsafe = false;
};

/// A core type together with what its type and size variables mean.
struct Ty {
  core::TypePtr type;
  Env env;
};

struct VarBind {
  core::VarId id;
  V value;
  std::shared_ptr<const VarBind> next;
};
struct TyBind {
  core::TyVarId id;
  Ty type;
  std::shared_ptr<const TyBind> next;
};

/// A scalar; inside of n VArrs: an array of rank >= n whose outer dims are those of the VArrs.
struct VLeaf {
  ir::Atom atom;
};
/// An array of anything that has a structure: the leaves below have `dim` as one of their outer
/// dims. So an array of pairs is VArr(n, VRec(leaf [n]a, leaf [n]b)).
struct VArr {
  ir::Atom dim;
  V elem;
};
/// Fields in the order of the type.
struct VRec {
  std::vector<std::pair<std::string, V>> fields;
};

/// How a sum type is laid out as leaves.
struct SumLayout {
  std::vector<std::string> constructors;
  core::SumLayout leaves;
  bool functions = false;  // a payload is or holds a function: only as a VConstr
  bool tagged() const { return leaves.tag; }
  int index_of(const std::string& name) const;  // -1: none
};

/// A sum whose constructor is known here.
struct VConstr {
  Ty type;
  std::shared_ptr<const SumLayout> layout;
  int index = 0;
  std::vector<V> args;
};
/// A sum at run time: tag (if tagged) and slots; arrays of sums have array atoms here.
struct VSum {
  Ty type;
  std::shared_ptr<const SumLayout> layout;
  std::vector<ir::Atom> atoms;
};

/// A function, perhaps applied to some of its arguments. Exactly one of lambda, def, intrinsic,
/// hole.
struct VFun {
  core::ExpPtr lambda;                          // an ELambda; env is its environment
  core::DefPtr def;                             // body is an ELambda; env has the type arguments
  const core::EIntrinsic* intrinsic = nullptr;  // env: where targs and sargs have their meaning
  core::TypePtr hole;                           // an arrow: ??? of this type
  std::vector<core::Size> sargs;                // of def, meant in sarg_env
  Env env;
  Env sarg_env;
  int arity = 1;
  std::vector<V> args;
};
/// A local definition, not instantiated yet.
struct VDef {
  core::DefPtr def;
  Env env;
};

/// An accumulator (see streams.cc). `shape`: the array that it belongs to, for the sizes of its
/// type.
struct VAcc {
  int stream;
  V shape;
  V state;         // all that is there at run time; what it is depends on the stream's mode
  int writes = 0;  // at most, on any way to here; not counted where loops or logs do
};

struct Value {
  std::variant<VLeaf, VArr, VRec, VConstr, VSum, VFun, VDef, VAcc> node;
};

template <class T>
V make(T node) {
  return std::make_shared<const Value>(Value{std::move(node)});
}
inline V leaf(ir::Atom a) { return make(VLeaf{std::move(a)}); }
inline V unit() { return make(VRec{}); }

inline Env bind(Env env, core::VarId id, V value) {
  env.vars = std::make_shared<const VarBind>(VarBind{id, std::move(value), env.vars});
  return env;
}
inline Env bind_type(Env env, core::TyVarId id, Ty type) {
  env.types = std::make_shared<const TyBind>(TyBind{id, std::move(type), env.types});
  return env;
}

}  // namespace kenaz::lower

// The terms that expressions of array IR are made of (ir.h): operands, types, bodies, lambdas,
// monoids.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/scalar/ops.h"
#include "protocol/base/ids.h"
#include "protocol/prim_type.h"

namespace kenaz::ir {

using VarId = Id<struct IrVarTag>;
using FunId = Id<struct IrFunTag>;
using ProvId = Id<struct ProvTag>;

/// An operand: a constant scalar or a variable.
struct Atom {
  std::variant<PrimValue, VarId> v = PrimValue{};
  Atom() = default;
  Atom(PrimValue c) : v(c) {}  // NOLINT: conversions are the point
  Atom(VarId id) : v(id) {}    // NOLINT
  bool is_const() const { return v.index() == 0; }
  /// A constant of any integer type, with this value.
  bool is_int(int64_t n) const {
    return is_const() && is_integer(constant().type) && constant().as_i64() == n;
  }
  bool is_bool(bool b) const { return is_const() && constant() == PrimValue::of_bool(b); }
  const PrimValue& constant() const { return std::get<0>(v); }
  VarId var() const { return std::get<1>(v); }
  friend bool operator==(const Atom&, const Atom&) = default;
};
inline Atom i64(int64_t n) { return PrimValue::i64(n); }

/// A scalar (no dims) or an array. Every dim is an i64 atom in scope where the variable is bound
/// (bound earlier, or by the same pattern or parameter list).
struct Type {
  PrimType prim = PrimType::kI32;
  std::vector<Atom> dims;
  int rank() const { return static_cast<int>(dims.size()); }
  bool is_scalar() const { return dims.empty(); }
  friend bool operator==(const Type&, const Type&) = default;
};

/// Where an array lies, at stage mem: row-major in the memory of another one, which has elements of
/// the same type, from the element `start` on, an i64.
struct Place {
  VarId memory;
  Atom start;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Stm;

/// Statements, then results. Scoping is lexical: a body sees everything around it.
struct Body {
  std::vector<Stm> stms;
  std::vector<Atom> results;
};

struct Lambda {
  std::vector<VarId> params;
  Body body;
  std::vector<Type> ret;  // types of body.results; dims in scope outside of the lambda
};

/// A reduction or scan operator: a monoid. op takes acc params then element params; neutral has
/// one atom per value. `commutative` only if the program says so or the operator is known to be.
struct Monoid {
  Lambda op;
  std::vector<Atom> neutral;
  bool commutative = false;
};

}  // namespace kenaz::ir

// The operators that code generation knows by meaning: one table (operators.def). An operator that
// is not in it is combined by the code that the program gives.
#pragma once

#include "kernels/ir/ir.h"
#include "kernels/kir/kir.h"
#include "kernels/program/target.h"

namespace kenaz::op {

enum class TypeClass : uint8_t { kInt, kFloat, kBool };
enum class Neutral : uint8_t { kZero, kOne, kLeast, kGreatest, kAllBits, kNan };
enum class Subgroup : uint8_t { kDirect, kByOrder };

/// A row of operators.def.
struct Known {
  ScalarOp op;
  TypeClass types;
  Neutral neutral;
  bool commutative;
  kir::AtomicOp atomic;
  Subgroup subgroup;
};

TypeClass class_of(PrimType t);

/// The row of `op` at `type`, or null. Rows live as long as the process.
const Known* known(ScalarOp op, PrimType type);

/// The row of an operator on single scalars: a function of two parameters whose result is one
/// scalar operation of both, in either order if it commutes. Null if it is none.
const Known* recognise(const ir::Lambda& op);
const Known* recognise(const ir::Monoid& monoid);

/// Whether the operands may be swapped: the program says so, or the operator is known to.
bool is_commutative(const ir::Monoid& monoid);

PrimValue neutral_of(const Known& row, PrimType type);

/// Whether a subgroup of the target reduces and scans values of this type by itself.
bool has_subgroup_op(const Known& row, PrimType type, const program::Target& target);

/// Whether memory combines values of this type by one atomic operation, which is row.atomic:
/// integers of 32 bits; integers of 64 and floats of 32 and 64 where the target has them.
bool has_atomic(const Known& row, PrimType type, const program::Target& target, bool shared);

/// Whether a value of `bytes` bytes can be exchanged by compare-and-swap: 4, or 8 where the target
/// has 64-bit atomics in that memory.
bool has_cas(int bytes, const program::Target& target, bool shared);

}  // namespace kenaz::op

// The scalar operations of array IR and host code, and their meaning: one table (ops.def) and one
// evaluator, used by constant folding, the reference evaluator and the host interpreter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/prim_type.h"

namespace kenaz {

enum class ScalarOp : uint8_t {
#define SCALAR_OP(e, name, arity, domain, result) e,
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
};

std::string_view scalar_op_name(ScalarOp op);
std::optional<ScalarOp> scalar_op_from_name(std::string_view name);
int scalar_op_arity(ScalarOp op);
/// Whether `op` is defined at operand type `t`.
bool scalar_op_accepts(ScalarOp op, PrimType t);
PrimType scalar_op_result(ScalarOp op, PrimType t, PrimType to);

/// Whether a op b is b op a for all integers and truth values. (Of floats it may not be so to the
/// bit: which of two NaNs, or of 0 and -0, comes out may depend on the order.)
bool scalar_op_commutes(ScalarOp op);
/// Whether, besides, (a op b) op c is a op (b op c).
bool scalar_op_associates(ScalarOp op);

/// Returns one operation at fixed types as a function on the bits of PrimValues, for interpreters,
/// which look it up once. It ignores unused operands and never traps. `op` must accept the type.
using ScalarFn = uint64_t (*)(uint64_t, uint64_t, uint64_t);
ScalarFn scalar_fn(ScalarOp op, PrimType type, PrimType to);

/// Evaluates one operation. Never traps, whatever the operands. f16 is computed in f32 and
/// rounded. `type` is the operands' type (see EPrim).
PrimValue eval_scalar(ScalarOp op, PrimType type, PrimType to, std::span<const PrimValue> args);

}  // namespace kenaz

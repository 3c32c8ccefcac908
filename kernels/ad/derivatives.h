// Partial derivatives of scalar operations (derivatives.def), for both modes.
#pragma once

#include <vector>

#include "kernels/ir/builder.h"

namespace kenaz::ad {

/// By what a tangent or an adjoint is multiplied. Where the factor is 0 or 1 by a condition, it is
/// a choice and no product: 0 times infinity would be NaN.
struct Factor {
  enum class Kind : uint8_t { kZero, kOne, kNegative, kTimes, kIf, kConvert };
  Kind kind = Kind::kZero;
  ir::Atom atom = PrimValue{};  // kTimes: the factor; kIf: the condition (false: 0)
};

/// One factor per operand: the derivative of the operation (whose result is `result`) by it. Code
/// that factors need goes to `b`; operands without `wanted` get kZero and no code. kConvert stands
/// for the operation itself: a conversion converts tangents, and back adjoints.
std::vector<Factor> partial_derivatives(ir::Builder& b, const ir::EPrim& e, const ir::Atom& result,
                                        const std::vector<char>& wanted);

/// Whether the derivative by this operand is zero everywhere.
bool is_always_zero(const ir::EPrim& e, size_t operand);

/// factor * value, behind the checks of `b`. Not for kConvert and kZero.
ir::Atom times(ir::Builder& b, const Factor& factor, const ir::Atom& value);

}  // namespace kenaz::ad

// What scalar operations cost, roughly and on every device: for whoever decides where they stand.
#pragma once

#include "kernels/scalar/ops.h"

namespace kenaz {

/// Whether every device does it by a few instructions, at any type but for a quotient's or
/// remainder's: no power, and nothing that a series computes.
bool scalar_op_is_quick(ScalarOp op);
/// Quotients and remainders: of integers they take dozens of instructions.
bool scalar_op_divides(ScalarOp op);

}  // namespace kenaz

// Scalar operations as GLSL expressions, with the meaning that kernels/scalar/ops.def gives them.
#pragma once

#include <span>
#include <string>

#include "kernels/glsl/library.h"
#include "kernels/scalar/ops.h"

namespace kenaz::glsl {

/// `args` are operands: names, literals or parenthesised. The result is not parenthesised.
std::string scalar_op(Library& library, ScalarOp op, PrimType type, PrimType to,
                      std::span<const std::string> args);

}  // namespace kenaz::glsl

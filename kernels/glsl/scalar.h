// Scalar operations as GLSL expressions, with the meaning that kernels/scalar/ops.def gives them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/glsl/library.h"
#include "kernels/kir/kir.h"
#include "kernels/scalar/ops.h"

namespace kenaz::glsl {

/// `args` are operands: names, literals or parenthesised. The result is not parenthesised.
std::string scalar_op(Library& library, ScalarOp op, PrimType type, PrimType to,
                      std::span<const std::string> args);

/// Of kir's kUsual and kIsUsual (kir::has_usual_form). The library has them for fused floats alone.
std::string usual_form(Library& library, const kir::IPrim& i, std::span<const std::string> args);

/// The reciprocal of a quotient's divisor, if that is a literal for which the library has functions
/// of fused floats that take the reciprocal, too.
std::optional<PrimValue> literal_reciprocal(const kir::IPrim& i);

/// A quotient, in any of its forms, of its two operands and literal_reciprocal.
std::string quotient_by(Library& library, const kir::IPrim& i, std::span<const std::string> args);

/// Of an integer that the driver's compiler cannot tell: kConvert needs not hide what comes out
/// (see `opaque`).
std::string untold_to_float(PrimType from, PrimType to, const std::string& a);

}  // namespace kenaz::glsl

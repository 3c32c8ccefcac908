// How primitive types look in GLSL: types, literals, memory accesses, kernel argument slots.
#pragma once

#include <string>

#include "protocol/prim_type.h"

namespace kenaz::glsl {

/// The type of a local variable: "int64_t", "float", "bool", ..
std::string glsl_type(PrimType t);
/// The unsigned integer type of the same width.
std::string glsl_unsigned(PrimType t);
/// An expression that is exactly the value, safe as an operand (parenthesised if it needs to be).
std::string literal(const PrimValue& v);

/// The value at a byte address (a uint64_t expression), and its storing.
std::string load(PrimType t, const std::string& address);
std::string store(PrimType t, const std::string& address, const std::string& value);
/// The value held in an 8-byte argument slot (a uint64_t expression).
std::string from_slot(PrimType t, const std::string& slot);

/// A float expression whose value the driver's compiler cannot tell even if it is constant.
///
/// Mesa's compilers take x + 0 for x, x * 0 for 0, abs(x * -0) for x * -0, and x / 0 for an
/// undefined value, which then is whatever lies in memory. So zeros of float types never reach it
/// as constants: literals come out of `zero_bits`, and what may become a zero when loops are
/// unrolled goes through here.
std::string opaque(PrimType t, const std::string& value);

/// Declarations that every kernel starts with: version, extensions, buffer reference types, and
/// `zero_bits`. That is a uint64_t of value 0, which the kernel's main function has to compute from
/// something that the driver's compiler does not know.
std::string preamble();

}  // namespace kenaz::glsl

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

/// Declarations that every kernel starts with: version, extensions, buffer reference types.
std::string preamble();

}  // namespace kenaz::glsl

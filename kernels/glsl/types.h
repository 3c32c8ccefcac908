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

/// A float expression, converted to a float type that may hold fewer bits.
///
/// NVIDIA's compiler (seen in 580.159) takes a half that was rounded from a wider float for that
/// float where it is widened again: 1/10 as a half was 0.1 as a float, and inf / inf of halves
/// was 1. So halves are opaque.
std::string narrowed(PrimType t, const std::string& value);

/// A float expression, negated in a way that the driver's compiler cannot fold: NVIDIA's (seen in
/// 580) makes 0 of -(float of false), which is -0.
std::string negated(PrimType t, const std::string& value);

/// An integer expression whose value no compiler can tell, nor what it is made of.
///
/// NVIDIA's compiler (seen in 580.159) makes a three-way comparison of int(a > b) - int(a < b), and
/// of other sums of what bools decide, and then gives up.
std::string untellable(PrimType t, const std::string& value);

/// An integer expression of which no compiler sees that only its lowest bit may be set.
///
/// NVIDIA's compiler (seen in 580.159) takes the product (x & 1) * y for y, whatever x is. It does
/// so in kernels that divide elsewhere, and sees through `zero_bits`, as it knows that no launch
/// has so many workgroups; what is said of their number by `no_bits` it cannot know.
std::string unseen(PrimType t, const std::string& value);

/// Whether it is an integer type of 8 or 16 bits.
///
/// Drivers keep such values in registers of 32 bits, and NVIDIA's compiler (seen in 580) may
/// compare them, or take the smaller of two, without wrapping the sum or difference that was
/// computed there. So all arithmetic and comparisons are of `widened` operands, and every result
/// that may exceed its type goes through `wrap`, by bits that the compiler does not know: the
/// register always holds the value itself.
bool is_narrow(PrimType t);
/// The value of an expression of a narrow type, as an int or uint.
std::string widened(PrimType t, const std::string& value);
/// The value of a narrow type that an integer expression has modulo 2^bits.
std::string wrap(PrimType t, const std::string& value);

/// What `wrap` calls: functions that read `zero_bits`.
std::string wrap_functions();

/// Declarations that every kernel starts with: version, extensions, buffer reference types, what
/// `wrap` calls, and `zero_bits`. That is a uint64_t of value 0, which the kernel's main function
/// has to compute from something that the driver's compiler does not know.
std::string preamble();

}  // namespace kenaz::glsl

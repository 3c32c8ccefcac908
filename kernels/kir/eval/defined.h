// Which bytes of a scalar operation's result are defined.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kir/kir.h"

namespace kenaz::kir::eval {

inline constexpr uint8_t kDefined = 0xff;

/// A bit per byte of the result, those above its size set; `bits` and `known` are the operands'.
/// Bytes move with conversions, bit operations and shifts by whole bytes; else one undefined byte
/// of an operand makes all of the result undefined, unless the other operand decides it.
/// Not for kSelect.
uint8_t defined_bytes(const IPrim& e, std::span<const uint64_t> bits,
                      std::span<const uint8_t> known);

}  // namespace kenaz::kir::eval

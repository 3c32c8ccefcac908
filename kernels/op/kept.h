// Operators that keep one of their operands: which is found by comparing numbers, so nothing has to
// be combined in memory but a number and where the value came from.
#pragma once

#include <optional>

#include "kernels/ir/ir.h"

namespace kenaz::op {

struct Kept {
  /// Of operands that differ in this scalar, the one where it is greater, or smaller, is kept.
  size_t key;
  bool greatest;
  /// Which of two that are equal in it: always the same one, or one that the operator chooses by
  /// the other scalars.
  enum class Ties : uint8_t { kFirst, kSecond, kAsk } ties;
};

/// What an operator on tuples of numbers does, if for any two it gives one of them as a whole; none
/// if that is not seen. Of equal numbers (0 and -0 are equal) the result may have either. Nothing
/// is said of NaNs.
std::optional<Kept> keeps(const ir::Program& p, const ir::Lambda& op);

}  // namespace kenaz::op

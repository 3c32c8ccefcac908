// Do the cases of a match cover every value?
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/core/core.h"

namespace kenaz::core {

struct Covered {
  enum Kind : uint8_t { kAll, kNotAll, kUnknown } kind = kAll;
  std::string witness;  // kNotAll: values that fit no case, written as a pattern
};

/// Whether every value of the patterns' type fits at least one of `cases`: proved by splitting
/// columns of patterns by constructor (Maranget, "Warnings for pattern matching", 2007). Numbers
/// count as endless, so literals other than `true` and `false` never cover a type by themselves.
/// kUnknown if the proof would take very long.
Covered coverage(const std::vector<const Pat*>& cases);

}  // namespace kenaz::core

// Do the cases of a match cover every value?
#pragma once

#include <vector>

#include "kernels/futhark/core/core.h"

namespace kenaz::core {

/// True if every value of the patterns' type fits at least one of `cases`: proved by splitting
/// columns of patterns by constructor (Maranget, "Warnings for pattern matching", 2007). Numbers
/// count as endless, so literals other than `true` and `false` never cover a type by themselves.
/// False if there is an uncovered value, and also if the proof would take very long.
bool covers_all(const std::vector<const Pat*>& cases);

}  // namespace kenaz::core

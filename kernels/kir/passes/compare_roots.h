// Comparisons of square roots, by squares.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Where a loop compares the root of x with an r that stays, and needs the root for nothing else:
/// compares x with what is a little less and a little more than r * r first, and takes the root
/// only of what lies between. The outcome is the same, for a root is rounded to the next float.
void compare_roots(Kernel& kernel);

}  // namespace kenaz::kir

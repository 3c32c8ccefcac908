// Checks that a kernel keeps to the rules of kir.h: every value and variable defined once and used
// where it is visible, the types of operands and results, ids in range, calls to earlier functions
// only, and where barriers and subgroup operations may stand. What depends on the values of
// operands (bounds, races, divergence) is the interpreter's to find.
#pragma once

#include "kernels/kir/kir.h"
#include "protocol/base/result.h"

namespace kenaz::kir {

/// kInternal, with the instruction in its message: a bug of what built or changed the kernel.
Status validate(const Kernel& kernel);

}  // namespace kenaz::kir

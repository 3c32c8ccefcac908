// What is known when the kernel is made: constants, operations that do nothing, values of
// variables, conditions and loops that are decided.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Exact: integers wrap, floats keep to IEEE. What is no longer used stays (dead_code.h).
void fold(Kernel& kernel);

}  // namespace kenaz::kir

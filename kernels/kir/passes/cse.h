// Values that are computed twice.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Uses a value again that the same pure instruction with the same operands made, where it is
/// visible. A load is pure if it is plain, goes to arguments that the kernel never writes, and no
/// write to device memory, barrier or fence may stand between: the same block may be passed as
/// another argument.
void cse(Kernel& kernel);

}  // namespace kenaz::kir

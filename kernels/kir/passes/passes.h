// All passes over a kernel.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Runs the passes of pipeline.def in their order. The kernel must be valid, and is so afterwards.
/// Its arguments, specs and arrays stay as they are.
void optimise(Kernel& kernel);

}  // namespace kenaz::kir

// Loops over a thread's own array that are not written out by drivers.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Writes out loops with known bounds if all places in a thread's own arrays are literals then, so
/// that these can be registers. Drivers do so themselves, but not where a loop's bounds hang on the
/// index of another one, as in triangular solves: such an array would stay in memory. Kernels that
/// would become much longer stay as they are.
void unroll_loops(Kernel& kernel);

}  // namespace kenaz::kir

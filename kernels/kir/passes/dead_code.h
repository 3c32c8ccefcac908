// What nobody needs: values that are not used, variables that are not read, conditions and loops
// without effect, functions that are not called.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Effects are stores, atomics, coherent loads (a loop may wait for another thread by them),
/// barriers, fences, failures, stops, and calls of functions that have them. A loop without effect
/// goes even if it would never end. Numbers of functions change.
void dead_code(Kernel& kernel);

}  // namespace kenaz::kir

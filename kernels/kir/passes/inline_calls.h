// Calls of small functions.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Puts the body of a small function where it is called. Drivers do so, too, but then it is too
/// late for the passes behind this one: elements that a thread makes in one go often read the same.
void inline_calls(Kernel& kernel);

}  // namespace kenaz::kir

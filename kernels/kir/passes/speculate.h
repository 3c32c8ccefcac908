// Several turns of a loop at once, before it is known whether they are wanted.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Of a loop that counts up to a bound unless something else ends it before, as one that waits for
/// numbers to grow. A turn of few operations costs as much again for the counter's comparison and
/// for leaving the loop. So where the counter is far enough from its bound, a thread makes 16 or 8
/// turns without asking, and keeps what they come to if all other conditions held in each. If not,
/// it makes these turns one by one, as it does the first eight, which many loops do not survive.
/// Only of turns that do nothing but compute, by operations that a device has.
void speculate(Kernel& kernel);

}  // namespace kenaz::kir

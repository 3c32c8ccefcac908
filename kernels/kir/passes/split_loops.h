// Loops of which it can be told before they start that none of their checks fails.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Puts a second loop without checks before a counted loop, and a condition around both. The checks
/// compare the loop's index, more or less something that stays, with what stays; the condition says
/// that they hold for the first and the last index, and that nothing wraps between. Only loops that
/// cannot stop otherwise are split, so the second one need not ask whether its thread has stopped.
void split_loops(Kernel& kernel);

}  // namespace kenaz::kir

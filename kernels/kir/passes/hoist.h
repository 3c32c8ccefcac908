// What a loop computes again and again from things outside of it.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Moves pure instructions whose operands are made outside of a loop, and reads of variables that
/// the loop does not assign, before it; from the loop's own blocks, not from conditions inside. No
/// operation traps, so none does harm where the loop makes no turn. Loads stay: an address may be
/// good only if there is a turn.
void hoist(Kernel& kernel);

}  // namespace kenaz::kir

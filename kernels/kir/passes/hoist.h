// What a loop computes again and again from things outside of it.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Moves pure instructions whose operands are made outside of a loop, and reads of variables that
/// the loop does not assign, before it; from the loop's own blocks, not from conditions inside. No
/// operation traps, so none does harm where the loop has no iteration. Loads stay: an address may
/// be valid only if there is one.
void hoist(Kernel& kernel);

}  // namespace kenaz::kir

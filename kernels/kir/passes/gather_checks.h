// Checks that stand one behind the other, with nothing but arithmetic and loads between, as one
// condition that is rarely true, and inside of it the checks themselves.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// A check is an if whose only side ends with a failure and computes no more than what that tells.
/// Which one fails first stays as it was; one whose condition another one before it has is left
/// out. Loads are not moved before a check that stood before them.
void gather_checks(Kernel& kernel);

}  // namespace kenaz::kir

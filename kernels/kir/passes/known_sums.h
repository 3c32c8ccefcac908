// Sums that loops need not make.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// What a loop adds to a variable in every turn, if it is the same each time, is added once, times
/// the number of turns: integers wrap. Behind hoist, which has moved before loops what is the same.
void known_sums(Kernel& kernel);

}  // namespace kenaz::kir

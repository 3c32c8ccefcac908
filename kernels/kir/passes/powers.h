// Powers by small literals.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// A float to the third or fourth power is a product of two products: a power takes a hundred
/// instructions, is less exact than the first and hardly more than the second, and has few usual
/// operands (gather_unusual), none of which is negative. (The square is one before, as it is exact:
/// passes/algebra.) The last bits differ from those of a power, so this is for devices of which
/// nobody expects the same bits: whose target contracts floats.
void powers(Kernel& kernel);

}  // namespace kenaz::kir

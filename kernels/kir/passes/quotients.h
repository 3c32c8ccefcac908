// Quotients of numbers that are known not to be negative.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// By a literal that is a power of two they are shifts, their remainders bits, and by others they
/// are of 32 bits where that is enough: indices that are taken apart have such. Devices have no
/// division, and of 64 bits it takes them a hundred instructions.
void quotients(Kernel& kernel);

}  // namespace kenaz::kir

// Loads and stores of neighbours as vectors.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Scalars that a thread loads from, or stores to, neighbouring places of device memory in the same
/// block of instructions become a vector of two or four, of 16 bytes at most, where the address is
/// known to be a multiple of its size: rows of [n][4]f32, the four bytes of a pixel. Blocks begin
/// at multiples of 16 bytes.
void vectors(Kernel& kernel);

}  // namespace kenaz::kir

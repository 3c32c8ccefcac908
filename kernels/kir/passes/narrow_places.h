// Places in device memory by numbers of 32 bits.
#pragma once

#include <cstdint>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Sums and products that places in device memory are made of are computed by 32 bits where the
/// launch is small: devices that have no integers of 64 bits need several instructions for each of
/// theirs. Whether it is small is another constant of the kernel then (Spec::says_small), true in
/// the first place. Accesses in a loop at
/// places from outside of it stay as they are.
///
/// Returns how many bytes each block may have in a small launch; 0 if all places stay as they are.
/// Not one of the passes of `optimise`: for kernels that are printed for a GPU, after those.
int64_t narrow_places(Kernel& kernel);

}  // namespace kenaz::kir

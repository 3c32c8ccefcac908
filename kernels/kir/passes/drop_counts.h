// Threads that need not be counted, as none stops.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Takes out what counts the threads that come to a barrier (SharedArray::counts_threads), if no
/// thread of the kernel can have stopped before. For kernels whose loops are ended by nobody but
/// themselves where they do not look (Looks).
void drop_counts(Kernel& kernel);

}  // namespace kenaz::kir

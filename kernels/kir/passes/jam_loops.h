// Loops around a loop that reads the same elements each time.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Runs eight or four iterations of such a loop together, if they are independent until the inner
/// loop has ended: the inner loop does the work of all of them, and loads once what they share, as
/// a thread's row of points that is compared with one centre after the other. Each iteration
/// calculates what it did, in its order, and what stands behind the inner loop runs in the order of
/// the iterations. Only where the shared elements are the thread's own, and the others are the same
/// for all threads: these are cheap to load and need no memory per thread.
void jam_loops(Kernel& kernel);

}  // namespace kenaz::kir

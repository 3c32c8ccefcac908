// Loops over arrays of short rows.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// At stage seg, for targets that hide latency by threads. Where the threads of a map in a loop
/// make the rows that the next turn reads, by threads of neighbouring rows, the loop carries the
/// array's transpose: then neighbouring threads load and store neighbouring elements (turned.h),
/// and rows are moved once before the loop and once behind it.
void turn_loops(ir::Program& p);

}  // namespace kenaz::host_code

// Loops over neighbours in memory, several at a time.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Loads several elements at once where a loop that does nothing but compute and load goes along a
/// row of the thread's own: vectors of 16 bytes, four at most. A loop that goes element by element
/// runs four iterations at a time for that; all but the loads stays in its order. Whether rows
/// begin at multiples of the vector's size is known at run time only: a condition says it, of what
/// is the same for all threads (the length of the rows), and the loop as it was stands beside.
/// Blocks begin at multiples of 16 bytes.
void wide_loops(Kernel& kernel);

}  // namespace kenaz::kir

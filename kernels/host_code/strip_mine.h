// Cuts long work of one thread into pieces, each a launch of its own.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// Host-level statements that one thread of the device would run (histograms, reductions and scans
/// whose operator works on arrays, loops over elements) become host loops over pieces of a bounded
/// number of turns, where their number of turns is known before they start. That keeps llvmpipe's
/// limit of 65,535 turns in one thread out of the way, and calls can be stopped between the pieces.
void strip_mine(ir::Program& p);

}  // namespace kenaz::host_code

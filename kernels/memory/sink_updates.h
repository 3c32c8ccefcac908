// Updates of arrays by what branches or versions make, moved into these.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::memory {

/// At stage seg. Where a branch or one of several versions makes an array that is put into another
/// one and not used otherwise, each does that itself, at its end: so that it may make it there
/// (short_circuit.h). Indices and checks of the update are moved before.
void sink_updates(ir::Program& p);

}  // namespace kenaz::memory

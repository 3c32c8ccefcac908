// What the kernels of today cannot do yet, taken out of a program before it is scheduled and after.
#pragma once

#include "kernels/explain/recorder.h"
#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// Combinators with an operator on arrays that does not work element by element become the work of
/// one thread: ESegs without dims. After flatten::device_scalars, before flatten::segments.
void run_by_one_thread(ir::Program& p);

/// For a target with a limit to the turns of a thread: elements that a loop makes are made by a
/// map, one per thread, before they are scanned, reduced or counted, where a thread takes many of
/// them. Before flatten::segments.
void make_long_elements_apart(ir::Program& p);

/// Versions become ifs. Of a program at stage seg. Gives the versions' names.
explain::VersionNames choices_as_ifs(ir::Program& p);

}  // namespace kenaz::host_code

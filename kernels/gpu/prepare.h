// What the kernels of today cannot do yet, taken out of a program before it is scheduled and after.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::gpu {

/// Histograms, and reductions and scans whose operator works on arrays, become the work of one
/// thread: ESegs without dims. After flatten::device_scalars, before flatten::segments.
void run_by_one_thread(ir::Program& p);

/// Maps over several dims become maps over one, with as many points, that find the indices by
/// dividing its own; the arrays that they make are reshaped. Of a program at stage seg.
void join_dims(ir::Program& p);

/// Versions become ifs, and parameters constants: their fallback, or 1. Of a program at stage seg.
void fix_choices(ir::Program& p);

}  // namespace kenaz::gpu

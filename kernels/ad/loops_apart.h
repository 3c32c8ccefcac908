// Loops in maps, made maps of their own before code is gone back through. Reverse mode runs the
// code of maps again on the way back; what such a loop computes is then kept, at a number per loop.
//
//   map (\x -> .. loop .. g)  =  map (\x -> loop) then map (\x kept -> .. g)
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::ad {

/// So many turns, of a loop or a sum, are run again for less than it takes to keep a number.
inline constexpr int64_t kShort = 16;

/// `fun` is normalised (normalise.h), stands in no map, and is differentiated by its params. Loops
/// stay where they are that reverse mode runs again all the same (turns.h), that are short, or that
/// need more than arithmetic and maps of it.
void set_loops_apart(ir::Program& p, ir::Lambda& fun);

}  // namespace kenaz::ad

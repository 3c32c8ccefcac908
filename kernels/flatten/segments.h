// From stage soacs to stage seg without looking into nests.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// Every combinator at host level becomes an ESeg of one dim, a thread per element, that reads its
/// inputs at its index; one with scans and reductions becomes two. The program is at stage seg
/// then. Combinators inside of others stay as they are.
void segments(ir::Program& p);

}  // namespace kenaz::flatten

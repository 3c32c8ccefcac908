// From stage soacs to stage seg: what is parallel becomes segmented operations, that say what runs
// where.
//
// Nests of combinators become ESegs over all their levels (distribute.h). Where that costs more
// than one ESeg, because values pass through memory, a version beside it spreads no more than
// perfect nests of maps; it is taken when these alone fill the device, by a threshold that can be
// tuned. Not so beside a product of matrices with elementwise maps around it: threads that share
// what they load beat any number of threads that do not.
#pragma once

#include <cstdint>

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// Every combinator at host level becomes ESegs. The program is at stage seg then.
void segments(ir::Program& p);
/// Lets it make versions for workgroups: of a program at stage soacs, for targets on which barriers
/// are cheap, because it takes so many threads to fill them.
inline constexpr int64_t kThreadsForGroups = 1 << 14;
void offer_groups(ir::Program& p);

}  // namespace kenaz::flatten

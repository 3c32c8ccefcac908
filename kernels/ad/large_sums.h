// Sums in the body of a loop that the way back takes from where the loop kept them, as they take
// long to make: products of matrices and the like.
#pragma once

#include <vector>

#include "kernels/ad/activity.h"
#include "kernels/ir/ir.h"

namespace kenaz::ad {

/// Variables of the body, each by a statement of its own, that are arrays of sums and as large as a
/// param of the loop, no more than a few for each. Instead of sums that are only added up, element
/// by element, what they are added up to.
std::vector<ir::VarId> large_sums(const ir::Program& p, const Activity& activity,
                                  const ir::ELoop& e);

}  // namespace kenaz::ad

// The pass that puts ordinary code in the place of the differential operators.
#pragma once

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::ad {

/// Replaces every EJvp, EVjp and EWithVjp, the inner ones first, by code that computes the same;
/// then copies what is shared and consumed, and simplifies. A program without them is left as it
/// is. Fails with kCompile, naming the place, at what cannot be differentiated and where the code
/// grows beyond all bounds.
Status differentiate(ir::Program& p);

}  // namespace kenaz::ad

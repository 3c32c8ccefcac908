// Reductions of segments that differ in length (plan::Uneven). Facts: op (of all stages), carried
// (what the stage that shares most shares), segments, slow, fails.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> uneven_plans();

}  // namespace kenaz::primitives

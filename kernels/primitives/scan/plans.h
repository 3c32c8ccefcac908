// Inclusive scans of each segment. Facts: op, carried, segments, length,
// across, widest, slow, items.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> scan_plans();

}  // namespace kenaz::primitives

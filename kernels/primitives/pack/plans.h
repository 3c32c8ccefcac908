// Packing: stable partition by class. Elements get places without gaps, in order, for each class.
// One segment. Facts: carried, length, classes, slow, items.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> pack_plans();

}  // namespace kenaz::primitives

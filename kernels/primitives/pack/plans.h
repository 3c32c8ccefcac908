// Packing: the elements of class 0 in their order, then those of class 1 and so on, then the rest,
// if it is kept. One segment, whose elements take not long and do not stop their threads. Facts:
// carried, length, classes, rest, widest, items.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> pack_plans();

}  // namespace kenaz::primitives

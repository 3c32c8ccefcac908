// Sorting: the elements in ascending order of their keys, those of equal keys in their order. One
// segment, whose elements take not long and do not stop their threads. Facts: key, carried, length,
// widest, items.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> sort_plans();

}  // namespace kenaz::primitives

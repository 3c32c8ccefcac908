// Reductions: the values of each segment, combined in order. Facts: op, segments, length, across,
// widest, slow. Segments without elements give the neutral element.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> reduce_plans();

}  // namespace kenaz::primitives

// Histograms: each element is combined with the bin that it names, in no order. Facts: op,
// segments, length, bins, widest, slow. The operator must commute.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> hist_plans();

}  // namespace kenaz::primitives

// Histograms: each element is combined with the bin that it names, in no order. Facts: op,
// segments, length, bins, widest, slow. The operator must commute.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> hist_plans();

/// Facts::items of a histogram: few, as each element is a load or two and an atomic operation, and
/// more threads hide more of what those wait for.
int hist_items(const plan::Facts& facts);

}  // namespace kenaz::primitives

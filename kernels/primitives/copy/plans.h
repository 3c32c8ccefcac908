// Copies: each element is put at its own place. Facts: carried (the type of an element), segments,
// length, matrix, across (neighbours in the source are neighbouring segments, neighbours in the
// result neighbouring positions; else both are neighbouring positions, or the source has none),
// widest, aligned, begins, step.
#pragma once

#include <span>

#include "kernels/plan/plan.h"

namespace kenaz::primitives {

std::span<const plan::Plan> copy_plans();

}  // namespace kenaz::primitives

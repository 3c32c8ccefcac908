// Sums and products of integers below 32 bits, made in 32 bits: what is above the low bits of a
// partial result never comes down, so only the last one is cut. Devices compute in 32 bits, and
// cutting every partial result takes longer than adding it.
#pragma once

#include "kernels/plan/plan.h"

namespace kenaz::plan {

/// Whether it is such an operator.
bool is_narrow_ring(const OpFacts& op);

/// The facts of such a reduction, made in 32 bits, and the problem itself. `put` gets the results
/// in their own type.
void widen(OpFacts& op);
void widen(Builder& k, Problem& problem);

}  // namespace kenaz::plan

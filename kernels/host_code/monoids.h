// Operators of array IR as plans see them.
#pragma once

#include <vector>

#include "kernels/body/thread.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

using Monoids = std::vector<const ir::Monoid*>;

/// Of the operator that combines tuples of the values of all.
plan::OpFacts joined_facts(const ir::Program& p, const Monoids& monoids);
/// .. and itself, in a kernel. `first`: one more than the functions of earlier ones are numbered
/// to.
plan::Operator joined_operator(body::Thread& t, const Monoids& monoids, size_t first = 0);

/// The same, combined in the middle of the caller's code and not by functions: so it may use what
/// is known there.
plan::Operator operator_in_place(body::Thread& t, const Monoids& monoids);

}  // namespace kenaz::host_code

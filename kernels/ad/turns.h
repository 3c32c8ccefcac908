// Loops whose turns can be gone back through in any order.
#pragma once

#include "kernels/ad/activity.h"
#include "kernels/ad/counters.h"
#include "kernels/ir/ir.h"

namespace kenaz::ad {

/// More parts of an array than this are not handed out of a branch, but the whole adjoint.
inline constexpr size_t kMaxParts = 16;

/// Whether what varies in the loop are scalars that each turn adds to and makes no other use of:
/// then the adjoints that a turn gets are those that the loop gets. And whether a turn contributes
/// but single elements to arrays from outside, no more than a number that is known there.
bool has_independent_turns(const ir::Program& p, const Activity& activity, const ir::ELoop& e);

}  // namespace kenaz::ad

// Parts of subgroups: short segments have a power of two of neighbouring lanes each.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

/// All i32.
struct Part {
  kir::Value log2_width, width, lane;
};

/// The parts for segments of `length` (i64, equal for the workgroup), of which a lane takes `items`
/// at a time: the power of two from as many lanes on as that takes, no more than the subgroup has.
Part part_of(plan::Team& t, const kir::Value& length, int items);

/// Workgroups for one part per segment; right to a factor of two.
plan::HostExpr groups_of_parts(const plan::Facts& f, const program::Target& target, int items);

/// Calls `body` with this part's segments: those that are none are not `live`. Uniform.
void for_segments(
    plan::Team& t, const Part& p,
    const std::function<void(const kir::Value& segment, const kir::Value& live)>& body);

}  // namespace kenaz::primitives::blocks

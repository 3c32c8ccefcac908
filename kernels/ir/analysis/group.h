// Whether a workgroup can run a body (an ESeg of level kGroup), and what its code must know.
//
// All threads of the group run the statements of the body, except that the points of the ESegs in
// it are spread over them, with barriers in between. A thread that has stopped loads nothing, but
// still comes to the barriers. So what decides how often and whether a barrier is reached must not
// be loaded: it is computed from what is the same for the whole launch, from indices of the group's
// space and from counters of loops. Such a value is called steady here.
#pragma once

#include <optional>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/ir.h"

namespace kenaz::ir {

struct GroupBody {
  /// Why not; null: it can.
  std::optional<NoGroups::Why> refused;
  /// Variables from outside that sizes of spaces and arrays, conditions and bounds depend on. The
  /// host must know their values before the launch.
  VarSet control;
};

/// `e` is of level kGroup.
GroupBody group_body(const Program& p, const ESeg& e);

/// Whether the threads of a group must go through this branch or loop together: there are ESegs in
/// it, or it makes arrays.
bool is_joint(const Program& p, const Stm& s);

}  // namespace kenaz::ir

// Forward mode: a statement, and behind it one that computes the tangents of what it binds.
#pragma once

#include <vector>

#include "kernels/ir/builder.h"
#include "protocol/base/result.h"

namespace kenaz::ad {

/// Appends the code of the lambda at `args` and of its derivative in the direction `tangents`.
/// Returns the results, then their tangents. The lambda's body is normalised (normalise.h).
Result<std::vector<ir::Atom>> forward_mode(ir::Builder& b, const ir::Lambda& f,
                                           const std::vector<ir::Atom>& args,
                                           const std::vector<ir::Atom>& tangents);

}  // namespace kenaz::ad

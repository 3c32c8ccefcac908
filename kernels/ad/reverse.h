// Reverse mode: the statements in order, then for each, in the opposite order, what its operands
// contribute to the result.
#pragma once

#include <vector>

#include "kernels/ir/builder.h"
#include "protocol/base/result.h"

namespace kenaz::ad {

/// Appends the code of the lambda at `args` and of the adjoints of the arguments, given those of
/// the results. Returns the results, then the arguments' adjoints. The lambda's body is normalised
/// for reverse mode (normalise.h). Fails with kCompile at what has no rule. `in_map`: whether the
/// code stands in a map.
Result<std::vector<ir::Atom>> reverse_mode(ir::Builder& b, const ir::Lambda& f,
                                           const std::vector<ir::Atom>& args,
                                           const std::vector<ir::Atom>& adjoints, bool in_map);

}  // namespace kenaz::ad

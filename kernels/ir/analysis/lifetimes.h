// When memory is used for the last time.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "kernels/ir/analysis/alias.h"

namespace kenaz::ir {

/// For each class of arrays that the body uses or binds, however deep inside: the number of the
/// last of its statements that does so, or the number of all statements if a result is of the
/// class.
std::unordered_map<uint32_t, size_t> last_uses(const Program& p, const Aliases& aliases,
                                               const Body& b);

}  // namespace kenaz::ir

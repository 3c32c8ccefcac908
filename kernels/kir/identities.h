// What scalar operations give whatever the kernel: constants, and operations that do nothing. For
// the builder and the fold pass.
#pragma once

#include <optional>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// The operation's result if it is a constant or one of its operands, else nullopt. Exact: integers
/// wrap, and floats keep to IEEE, so x + 0.0 stays. The operands' types must be right.
std::optional<Value> known_result(ScalarOp op, PrimType type, PrimType to,
                                  const std::vector<Value>& args);

}  // namespace kenaz::kir

// Identities of scalar operations that take another one's result (see ir/algebra.h for the rest).
#pragma once

#include <functional>
#include <optional>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// The operation that a variable is the result of, or null.
using PrimOf = std::function<const ir::EPrim*(ir::VarId)>;

/// A simpler operation with the same value, found by looking at what made the operands.
std::optional<ir::EPrim> simplify_prim_of_prim(const ir::EPrim& e, const PrimOf& prim_of);

}  // namespace kenaz::passes

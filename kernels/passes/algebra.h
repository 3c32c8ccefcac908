// Identities of scalar operations.
#pragma once

#include <functional>
#include <optional>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// An atom with the same value as the operation, if one is known from the operation alone: folded
/// constants, and identities that hold for every value of the type (so few for floats).
std::optional<ir::Atom> simplify_prim(const ir::EPrim& e);

/// The operation that a variable is the result of, or null.
using PrimOf = std::function<const ir::EPrim*(ir::VarId)>;

/// A simpler operation with the same value, found by looking at what made the operands.
std::optional<ir::EPrim> simplify_prim_of_prim(const ir::EPrim& e, const PrimOf& prim_of);

}  // namespace kenaz::passes

// Identities of scalar operations.
#pragma once

#include <optional>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// An atom with the same value as the operation, if one is known from the operation alone: folded
/// constants, and identities that hold for every value of the type (so few for floats).
std::optional<ir::Atom> simplify_prim(const ir::EPrim& e);

}  // namespace kenaz::passes

// Identities of scalar operations, for whoever makes array IR or improves it.
#pragma once

#include <optional>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// An atom with the same value as the operation, if one is known from the operation alone: folded
/// constants, and identities that hold for every value of the type (so few for floats).
std::optional<Atom> simplify_prim(const EPrim& e);

}  // namespace kenaz::ir

// Is a checked program what core.h promises? For tests and debug builds: lowering relies on it.
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/core/core.h"

namespace kenaz::core {

/// What is wrong, one line each; empty for a well-formed program. Checked: every variable is in
/// scope where it is used, instances have as many arguments as their definition has parameters,
/// nothing is left of inference, operands have the types that operations need (sizes and
/// uniqueness ignored, abstract types looked through). `sizes`: also that size variables in types
/// and size arguments are in scope.
std::vector<std::string> validate(const Checked& program, bool sizes = false);

}  // namespace kenaz::core

// Warnings that programs ask for by attributes, and that only the optimised program can answer.
#pragma once

#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/ir/ir.h"

namespace kenaz::compiler {

/// Of a program at stage soacs, in the order of the text, each place once:
/// #[warn(safety_checks)]: the checks inside that were not found to hold always.
/// #[unroll] on a loop: that the number of its iterations is not known.
std::vector<Diagnostic> warnings_of(const ir::Program& program);

}  // namespace kenaz::compiler

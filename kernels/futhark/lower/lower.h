// Lowering: checked Futhark to array IR, by evaluating away everything that is not first-order
// array code: type and size instances, functions as values, records, sums, patterns.
#pragma once

#include "kernels/compiler.h"

namespace kenaz::lower {

/// Constructs that are not supported yet are refused here, by name and place (kind kCompile).
Result<compiler::Lowered> lower_program(const core::Checked& checked);

}  // namespace kenaz::lower

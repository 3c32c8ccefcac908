// Lowering: checked Futhark to array IR, by evaluating away everything that is not first-order
// array code: type and size instances, functions as values, records, sums, patterns.
#pragma once

#include "kernels/futhark/core/core.h"
#include "kernels/ir/lowered.h"
#include "protocol/base/result.h"

namespace kenaz::lower {

/// Constructs that are not supported yet are refused here, by name and place (kind kCompile).
Result<ir::Lowered> lower_program(const core::Checked& checked);

}  // namespace kenaz::lower

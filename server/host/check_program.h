// Checks a Program before any of it is interpreted: it may come from a cache file or a compiler
// with a bug. What passes, the interpreter can run without looking twice at indices, arities,
// kernels and nesting; values (sizes, offsets, dimensions) are checked as they come up.
#pragma once

#include "kernels/program/program.h"
#include "protocol/base/result.h"

namespace kenaz::host {

/// kInternal, naming the place, if something does not fit.
Status check_program(const program::Program& program);

}  // namespace kenaz::host

// Which entry points need the program's top-level constants.
#pragma once

#include "kernels/program/program.h"

namespace kenaz::host {

/// Whether an entry's code or result mentions a register that the constants' code sets.
bool uses_constants(const program::Program& program, const program::Entry& entry);

}  // namespace kenaz::host

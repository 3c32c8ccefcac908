// What of a program's values the host itself needs.
#pragma once

#include "kernels/ir/analysis/uses.h"

namespace kenaz::host_code {

/// All variables that are used by anything but the bodies and operators of kernels: of a scalar
/// that a kernel makes and that is not among them, the host need not know.
ir::VarSet host_uses(const ir::Program& p);

}  // namespace kenaz::host_code

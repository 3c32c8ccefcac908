// Declares each scan plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::scan {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/scan/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::scan

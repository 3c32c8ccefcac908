// Declares each histogram plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::hist {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/hist/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::hist

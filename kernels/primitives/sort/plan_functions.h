// Declares each sorting plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::sort {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/sort/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::sort

// Declares the functions of each plan of uneven segments, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::uneven {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/uneven/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::uneven

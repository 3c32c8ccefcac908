// Declares each copy plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::copy {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/copy/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::copy

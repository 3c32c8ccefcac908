// Declares each packing plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::pack {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/pack/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::pack

// Declares each reduction plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::reduce {

#define PLAN KENAZ_DECLARE_PLAN
#include "kernels/primitives/reduce/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::reduce

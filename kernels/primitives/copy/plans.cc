#include "kernels/primitives/copy/plans.h"

#include "kernels/primitives/copy/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> copy_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, copy::name::applies, copy::name::when, copy::name::make},
#include "kernels/primitives/copy/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

#include "kernels/primitives/reduce/plans.h"

#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> reduce_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, reduce::name::applies, reduce::name::when, reduce::name::make},
#include "kernels/primitives/reduce/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

#include "kernels/primitives/sort/plans.h"

#include "kernels/primitives/sort/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> sort_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, sort::name::applies, sort::name::when, sort::name::make},
#include "kernels/primitives/sort/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

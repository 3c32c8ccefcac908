#include "kernels/primitives/uneven/plans.h"

#include "kernels/primitives/uneven/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> uneven_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, uneven::name::applies, uneven::name::when, uneven::name::make},
#include "kernels/primitives/uneven/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

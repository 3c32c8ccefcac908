#include "kernels/primitives/hist/plans.h"

#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> hist_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, hist::name::applies, hist::name::when, hist::name::make},
#include "kernels/primitives/hist/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

#include "kernels/primitives/scan/plans.h"

#include "kernels/primitives/scan/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> scan_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, scan::name::applies, scan::name::when, scan::name::make},
#include "kernels/primitives/scan/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

#include "kernels/primitives/pack/plans.h"

#include "kernels/primitives/pack/plan_functions.h"

namespace kenaz::primitives {

std::span<const plan::Plan> pack_plans() {
  static constexpr plan::Plan kPlans[] = {
#define PLAN(name) {#name, pack::name::applies, pack::name::when, pack::name::make},
#include "kernels/primitives/pack/plans.def"
#undef PLAN
  };
  return kPlans;
}

}  // namespace kenaz::primitives

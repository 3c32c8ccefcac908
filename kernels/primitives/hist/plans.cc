#include "kernels/primitives/hist/plans.h"

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"
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

int hist_items(const plan::Facts& facts) { return std::min(8, blocks::items_in_flight(facts)); }

}  // namespace kenaz::primitives

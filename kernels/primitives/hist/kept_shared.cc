#include "kernels/primitives/hist/kept.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::kept_shared {

bool applies(const Facts& f, const Target& target) {
  return has_words(f, target) && shared::applies(facts_of_words(f), target);
}

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr window = shared::window(facts_of_words(f), target);
  return and_(words_fit(f), and_(le(f.bins, window), le(f.bins, f.length)));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_by_words(f, target, bind, shared::add_steps);
}

}  // namespace kenaz::primitives::hist::kept_shared

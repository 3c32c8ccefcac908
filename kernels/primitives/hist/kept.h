// Histograms by operators that keep one of two elements, whole: what is combined are words that say
// how an element's key is ordered and where it stands; each bin's element is made once more in the
// end. So records of any size take one atomic operation of 64 bits each, and of elements with equal
// keys it does not matter which comes first.
#pragma once

#include "kernels/primitives/hist/bins.h"

namespace kenaz::primitives::hist {

/// Whether the operator is of that kind, for who has a plan to combine the words with.
bool has_words(const Facts& f, const Target& target);
/// Whether the words have room for all elements' places.
HostExpr words_fit(const Facts& f);
/// What that plan sees: the bins are the words.
Facts facts_of_words(const Facts& f);
using AddSteps = void (*)(plan::Maker& m, const Facts& f, const Target& target);
plan::Work make_by_words(const Facts& f, const Target& target, const plan::Bind& bind,
                         AddSteps combine);

}  // namespace kenaz::primitives::hist

// Products of integers with all their bits, and what is added to them with carries.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Arithmetic on numbers of many words multiplies two words, adds up to two more, and makes a low
/// and a high word of it: the low one by operations that wrap, the high one by `mulhi` and by
/// comparisons that say whether a sum wrapped. The product with both sums never has more than two
/// words; so both are made of products of halves, to which everything is added where it cannot
/// wrap, and nothing is compared. Of u32, both are halves of one u64.
void wide_products(Kernel& kernel);

}  // namespace kenaz::kir

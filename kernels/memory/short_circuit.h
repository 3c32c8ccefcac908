// Short-circuiting: what is put into a larger array is made there.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::memory {

/// Takes a program at stage seg to stage mem. Gives places (ir/places.h) to arrays that are made in
/// the same body as what they become a part of, and that nobody needs after that:
///   - parts of concatenations, and rows of array literals. The whole is allocated before the first
///     of them is made, which is why nothing in between may take memory that it gives back, and
///     nothing may die there but what is as large as a part: so at no time more memory is in use
///     than there was when the parts stood beside the whole;
///   - values that update a range of neighbours in an array, if nothing uses the array from where
///     they are made to where they are put.
/// Sizes and checks that the whole needs are moved before the first part.
void short_circuit(ir::Program& p);

}  // namespace kenaz::memory

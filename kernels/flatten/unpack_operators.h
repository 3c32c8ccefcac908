// Operators on small arrays, as operators on their elements.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// The arrays that one operator takes have so many elements at most, together.
inline constexpr int64_t kMostUnpacked = 16;

/// Reductions and scans whose operators work on arrays of a few elements, of sizes that are
/// constants, become ones on as many scalars: of those every plan can combine as many as it likes,
/// while an operator on arrays is left to one thread. Operators that can be lifted stay as they
/// are.
void unpack_operators(ir::Program& p);

}  // namespace kenaz::flatten

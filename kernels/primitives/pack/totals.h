// How many elements of each class there are, and where each class begins in the result.
#pragma once

#include "kernels/primitives/pack/tiles.h"

namespace kenaz::primitives::pack {

/// How many elements each class that is counted has (i64) from `from` to before `to`; all threads
/// of the workgroup get it. Contains barriers. Elements are made without what they carry, if that
/// can be.
Values count(Team& t, Combiner& c, const Value& from, const Value& to);

/// The positions at which the elements from `from` on begin, for each class and, if it is kept, the
/// rest: of all elements there are `totals`, and `before` stand before `from`.
Values starts(Builder& k, const Facts& facts, const Values& totals, const Values& before,
              const Value& from);

}  // namespace kenaz::primitives::pack

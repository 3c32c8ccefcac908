// What the checker warns of in a piece of syntax.
#pragma once

#include <vector>

#include "kernels/futhark/check/env.h"
#include "kernels/futhark/check/reports.h"

namespace kenaz::check {

/// Warns of expressions that bind names where they say the size of a slice.
void warn_of_slices(Reports& reports, const std::vector<syntax::DimIndex>& slices);

/// Warns of ranges that are empty whatever their end is and, if the range's elements are of type
/// i64, of expressions that bind names where they say its size.
void warn_of_range(Reports& reports, const syntax::ERange& r, bool is_i64,
                   const SourceRange& range);

/// Warns of the abstract types of `part`, which is included at `range`, that hide types of the same
/// name in `before`.
void warn_of_inclusion(Reports& reports, const Env& part, EnvRef before, const SourceRange& range);

}  // namespace kenaz::check

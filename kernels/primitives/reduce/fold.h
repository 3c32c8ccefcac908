// Folding a range of elements of one segment into one value per thread.
#pragma once

#include "kernels/primitives/blocks/combine.h"

namespace kenaz::primitives::reduce {

using blocks::Combiner;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

/// The elements that a workgroup takes at a time.
HostExpr tile_size(const Facts& facts);

/// acc := acc combined with the elements of one segment from `from` to before `to`, by this thread
/// alone. `from` is a multiple of n: full groups of n are taken at once.
void fold_alone(Team& t, const Value& segment, const Value& from, const Value& to, int n,
                const kir::Vars& acc);

/// The elements of one segment from `from`, a multiple of tile_size, to before `to`, both equal for
/// the workgroup, folded by all its threads: what they got, in their order, gives the result of the
/// range. Gives the value that every thread gets in the end.
Values fold_by_group(Team& t, Combiner& c, const Value& segment, const Value& from,
                     const Value& to);

}  // namespace kenaz::primitives::reduce

// A subgroup's own reductions and scans, at every type.
#pragma once

#include "kernels/kir/builder.h"
#include "kernels/op/operators.h"

namespace kenaz::primitives::blocks {

/// kReduce or kInclusive of `row`'s operator, which must have a subgroup operation at x's type.
kir::Value native_subgroup(kir::Builder& k, kir::SubgroupOp op, const op::Known& row,
                           const kir::Value& x);

}  // namespace kenaz::primitives::blocks

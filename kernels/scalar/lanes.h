// Scalar operations on many values at a time, for interpreters that run threads in lock step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/scalar/ops.h"

namespace kenaz {

/// One operation at fixed types: dst[k] becomes that of a[k], b[k] and c[k], for k < n, as ScalarFn
/// computes it. `dst` may be an operand; otherwise they do not overlap. Operands that the operation
/// does not have are not read, but not null.
using LaneFn = void (*)(uint64_t* dst, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                        size_t n);
LaneFn lane_fn(ScalarOp op, PrimType type, PrimType to);

}  // namespace kenaz

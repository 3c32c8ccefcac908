// The place of an element that is numbered, in a kernel.
#pragma once

#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// The indices (i64) into dims of these sizes, at least one, of the element that `linear` (i64)
/// counts to in row-major order.
kir::Values indices_of(HostArrays& host, body::Thread& t, const std::vector<Operand>& sizes,
                       const kir::Value& linear);

}  // namespace kenaz::host_code

// How thoroughly tests go through all the calls that can fail.
#pragma once

#include <cstdint>

#include "protocol/base/sanitizers.h"

namespace kenaz {

/// Tests that let each call fail in turn let every kFaultStride-th fail. Sanitized builds run them
/// for memory errors, which need not every call, and take several times as long.
#if KENAZ_IS_SANITIZED
inline constexpr int64_t kFaultStride = 5;
#else
inline constexpr int64_t kFaultStride = 1;
#endif

}  // namespace kenaz

// Which of a kernel's arguments it reads and writes through.
#pragma once

#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

enum class Access : uint8_t { kNone = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };

/// By argument; kNone for scalars. An access whose base comes from several blocks' addresses, or
/// from one that was loaded, counts for all blocks that it may be.
std::vector<Access> access_of(const Kernel& kernel);

}  // namespace kenaz::kir

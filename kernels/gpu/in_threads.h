// Segmented operations that no kernel is there for yet, as loops of single threads.
#pragma once

#include <functional>

#include "kernels/ir/ir.h"

namespace kenaz::gpu {

/// Of a program at stage seg: groups become threads, and what they do together loops of theirs. A
/// reduction or scan that is not supported then gets a thread for each point of its outer dims (or
/// one in all), which loops over the last one by a combinator; operators that are lifted become
/// operators on arrays. Maps, and what writes, stay as they are.
void in_threads(ir::Program& p, const std::function<bool(const ir::ESeg&)>& is_supported);

}  // namespace kenaz::gpu

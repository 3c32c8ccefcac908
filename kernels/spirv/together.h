// What threads of a subgroup or workgroup do together.
#pragma once

#include "kernels/spirv/item.h"

namespace kenaz::spirv {

/// OpGroupNonUniform..; nullopt: it is none.
std::optional<Item> subgroup_operation(kir::Builder& k, const Types& types, const Items& items,
                                       const Instruction& in);

/// OpControlBarrier and OpMemoryBarrier; false: it is neither. Kernel IR's barrier orders all
/// memory of the workgroup: what a barrier leaves out of its semantics is not seen here.
bool barrier_or_fence(kir::Builder& k, const Items& items, const Instruction& in);

}  // namespace kenaz::spirv

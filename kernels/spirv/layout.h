// Values in memory with a layout: where their scalars are.
#pragma once

#include <vector>

#include "kernels/spirv/item.h"

namespace kenaz::spirv {

/// A scalar of a value in memory.
struct Leaf {
  PrimType type;
  uint64_t bytes;  // from the value's begin on
};

/// Those of the value at a place of device memory or of push constants. Refuses types without
/// values, or without a layout.
std::vector<Leaf> layout(const Types& types, const Place& place);

/// Makes it the place of a part: of a structure's member, or of the element at `index`, for which
/// the result is how far elements are apart, in bytes.
void step_to_member(const Types& types, Place& place, uint32_t member);
uint64_t step_to_element(const Types& types, Place& place);

}  // namespace kenaz::spirv

// Shapes of arrays of anything, from their leaves' shapes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/value_type.h"
#include "server/host/engine.h"

namespace kenaz {

/// A leaf as far as it says something about shapes: its own, or its value if it is a size.
struct LeafShape {
  std::vector<int64_t> shape;
  int64_t size = 0;
};

/// Of the leaves of a value of that type; reads sizes from the engine.
Result<std::vector<LeafShape>> leaf_shapes(const ValueType& type,
                                           std::span<const host::LeafPtr> leaves);

/// Whether a leaf of an array of `rank` dimensions is one of these dimensions, and so no part of
/// the elements.
inline bool is_outer_size(const LeafType& leaf, int rank) {
  return leaf.dim >= 0 && leaf.dim < rank;
}

std::string parts_differ(const ValueType& type);  // a complaint

/// The first `array.rank` dimensions of a value of that type. All leaves must agree on them: if
/// not, the error is `complaint` and both shapes. No size may be negative.
Result<std::vector<int64_t>> outer_shape(const ValueType& array, std::span<const LeafShape> leaves,
                                         const std::string& complaint);

}  // namespace kenaz

// Where the elements of arrays lie in them.
#pragma once

#include <cstdint>
#include <span>

#include "server/host/engine.h"

namespace kenaz::host {

/// In bytes, in a row-major array.
struct ElementPlace {
  int64_t offset = 0, bytes = 0;
};

/// Of an array whose elements have all dimensions but the first `rank`. kInternal if there is no
/// such element.
Result<ElementPlace> element_place(const Leaf& array, int rank, int64_t number);
/// Also if `element` is none of its elements, by type and shape.
Result<ElementPlace> element_place(const Leaf& array, const Leaf& element, int64_t number);
/// Bytes of an array of that shape; kInternal if it does not consist of just these elements.
Result<int64_t> joined_bytes(PrimType prim, const std::vector<int64_t>& shape,
                             std::span<const LeafPtr> elements);

}  // namespace kenaz::host

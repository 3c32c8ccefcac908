#include "server/session/shapes.h"

#include <fmt/format.h>

#include "protocol/data/value.h"

namespace kenaz {

Result<std::vector<LeafShape>> leaf_shapes(const ValueType& type,
                                           std::span<const host::LeafPtr> leaves) {
  std::vector<LeafShape> shapes;
  for (size_t i = 0; i < leaves.size(); ++i) {
    shapes.push_back({leaves[i]->shape, 0});
    if (i >= type.leaves.size() || type.leaves[i].dim < 0) continue;
    const auto size = leaves[i]->scalar();
    if (!size) return internal_error("a size is no scalar");
    shapes.back().size = size->as_i64();
  }
  return shapes;
}

std::string parts_differ(const ValueType& type) {
  return fmt::format("the parts of a value of type {} have different shapes", type.name);
}

Result<std::vector<int64_t>> outer_shape(const ValueType& array, std::span<const LeafShape> leaves,
                                         const std::string& complaint) {
  if (leaves.size() != array.leaves.size() || leaves.empty()) {
    return internal_error("the type table contradicts itself");
  }
  const auto rank = static_cast<size_t>(array.rank);
  std::vector<int64_t> shape;
  // A size by itself stands for one dimension: the sizes before it are the dimensions before it.
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const LeafType& type = array.leaves[i];
    std::vector<int64_t> here;
    if (type.dim < 0) {
      if (leaves[i].shape.size() < rank) return internal_error("a leaf has too few dimensions");
      here.assign(leaves[i].shape.begin(),
                  leaves[i].shape.begin() + static_cast<std::ptrdiff_t>(rank));
    } else {
      if (leaves[i].size < 0) {
        return bad_request(fmt::format("an array cannot have size {}", leaves[i].size));
      }
      if (type.dim == 0) sizes.clear();
      sizes.push_back(leaves[i].size);
      if (type.dim + 1 != array.rank) continue;
      here = sizes;
    }
    if (shape.empty()) shape = here;
    if (shape != here) {
      return bad_request(
          fmt::format("{}: {} and {}", complaint, data::shape_text(shape), data::shape_text(here)));
    }
  }
  return shape;
}

}  // namespace kenaz

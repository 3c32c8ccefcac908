#include "server/host/elements.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz::host {
namespace {

bool is_inner_shape(const std::vector<int64_t>& whole, const std::vector<int64_t>& inner) {
  return inner.size() <= whole.size() && std::equal(inner.rbegin(), inner.rend(), whole.rbegin());
}

}  // namespace

Result<ElementPlace> element_place(const Leaf& array, int rank, int64_t number) {
  if (rank < 0 || static_cast<size_t>(rank) > array.shape.size()) {
    return internal_error(
        fmt::format("elements below {} dimensions of {}", rank, data::shape_text(array.shape)));
  }
  const std::span shape(array.shape);
  const auto outer = shape.first(static_cast<size_t>(rank));
  const auto inner = shape.subspan(static_cast<size_t>(rank));
  KENAZ_ASSIGN(const int64_t count,
               data::checked_bytes(PrimType::kI8, std::vector(outer.begin(), outer.end())));
  KENAZ_ASSIGN(const int64_t bytes,
               data::checked_bytes(array.prim, std::vector(inner.begin(), inner.end())));
  if (number < 0 || number >= count) {
    return internal_error(fmt::format("element {} of {}", number, count));
  }
  return ElementPlace{number * bytes, bytes};
}

Result<ElementPlace> element_place(const Leaf& array, const Leaf& element, int64_t number) {
  if (element.prim != array.prim || !is_inner_shape(array.shape, element.shape)) {
    return internal_error(fmt::format("an element of shape {} in an array of shape {}",
                                      data::shape_text(element.shape),
                                      data::shape_text(array.shape)));
  }
  return element_place(array, static_cast<int>(array.shape.size() - element.shape.size()), number);
}

Result<int64_t> joined_bytes(PrimType prim, const std::vector<int64_t>& shape,
                             std::span<const LeafPtr> elements) {
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(prim, shape));
  int64_t sum = 0;
  for (const LeafPtr& element : elements) {
    KENAZ_ASSIGN(const int64_t part, data::checked_bytes(element->prim, element->shape));
    sum += part;
    if (element->prim != prim || !is_inner_shape(shape, element->shape)) sum = -1;
    if (sum < 0 || sum > bytes) break;
  }
  if (sum != bytes) {
    return internal_error(fmt::format("{} elements for an array of shape {}", elements.size(),
                                      data::shape_text(shape)));
  }
  return bytes;
}

}  // namespace kenaz::host

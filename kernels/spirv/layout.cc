#include "kernels/spirv/layout.h"

#include <utility>

namespace kenaz::spirv {
namespace {

uint64_t size_of(const Types& types, Ident type) {
  return static_cast<uint64_t>(prim_size(types.scalar(type)));
}

/// Of a matrix: between its columns, and between the components of one.
std::pair<uint64_t, uint64_t> strides(const Types& types, Ident matrix, MatrixLayout how) {
  if (how.stride == 0) refuse("%{} has no stride of matrices", matrix);
  const uint64_t scalar = size_of(types, types.element(types.element(matrix)));
  return how.row_major ? std::pair(scalar, how.stride) : std::pair(how.stride, scalar);
}

void lay_out(const Types& types, const Place& place, uint64_t at, std::vector<Leaf>& out) {
  const TypeInfo& t = types.at(place.type);
  if (t.kind == TypeInfo::kScalar || t.kind == TypeInfo::kDevicePointer) {
    if (t.prim == PrimType::kBool) refuse("a truth value in device memory");
    out.push_back({t.prim, at});
    return;
  }
  for (uint32_t n = 0; n < (t.kind == TypeInfo::kStruct ? t.members.size() : t.count); n++) {
    Place part = place;
    part.offset = 0;
    uint64_t first = 0;
    if (t.kind == TypeInfo::kStruct) {
      step_to_member(types, part, n);
      first = part.offset;
    } else {
      first = n * step_to_element(types, part);
    }
    lay_out(types, part, at + first, out);
  }
}

}  // namespace

void step_to_member(const Types& types, Place& place, uint32_t member) {
  const Ident type = types.part(place.type, member).type;
  place.offset += types.offset(place.type, member);
  if (types.is_of_matrices(type)) place.matrices = types.matrix_layout(place.type, member);
  place.type = type;
}

uint64_t step_to_element(const Types& types, Place& place) {
  const TypeInfo& t = types.at(place.type);
  uint64_t stride = 0;
  if (t.kind == TypeInfo::kMatrix) {
    const auto [columns, components] = strides(types, place.type, place.matrices);
    stride = columns;
    place.component_stride = place.matrices.row_major ? components : 0;
  } else if (t.kind == TypeInfo::kVector && place.component_stride != 0) {
    stride = std::exchange(place.component_stride, 0);
  } else {
    stride = types.stride(place.type);
  }
  place.type = types.element(place.type);
  return stride;
}

std::vector<Leaf> layout(const Types& types, const Place& place) {
  std::vector<Leaf> out;
  const size_t n = types.scalars(place.type).size();  // refuses what is large
  Place whole;
  whole.type = place.type;
  whole.matrices = place.matrices;
  whole.component_stride = place.component_stride;
  lay_out(types, whole, 0, out);
  if (out.size() != n) refuse("%{} has no values", place.type);
  return out;
}

}  // namespace kenaz::spirv

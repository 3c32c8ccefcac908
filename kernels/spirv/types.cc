#include "kernels/spirv/types.h"

#include <algorithm>

#include "kernels/spirv/refused.h"

namespace kenaz::spirv {

namespace {

constexpr int kMostDepth = 32;
/// Of a value; those in memory may be larger.
constexpr uint64_t kMostScalarsOfValue = 4096;

PrimType int_type(uint32_t width, bool is_signed) {
  switch (width) {
    case 8: return is_signed ? PrimType::kI8 : PrimType::kU8;
    case 16: return is_signed ? PrimType::kI16 : PrimType::kU16;
    case 32: return is_signed ? PrimType::kI32 : PrimType::kU32;
    case 64: return is_signed ? PrimType::kI64 : PrimType::kU64;
    default: refuse("OpTypeInt: {} bits", width);
  }
}

PrimType float_type(uint32_t width) {
  switch (width) {
    case 16: return PrimType::kF16;
    case 32: return PrimType::kF32;
    case 64: return PrimType::kF64;
    default: refuse("OpTypeFloat: {} bits", width);
  }
}

}  // namespace

void Types::add_scalar(const Instruction& in, TypeInfo& t) const {
  t.kind = TypeInfo::kScalar;
  t.scalars = 1;
  t.prim = in.op == spv::OpTypeBool    ? PrimType::kBool
           : in.op == spv::OpTypeFloat ? float_type(in.at(0))
                                       : int_type(in.at(0), in.at(1) != 0);
}

void Types::add_pointer(const Instruction& in, TypeInfo& t) const {
  const bool forward = in.op == spv::OpTypeForwardPointer;
  t.storage = in.at(forward ? 1 : 0);
  t.element = forward ? 0 : in.at(1);
  t.is_forward = forward;
  t.kind = TypeInfo::kPointer;
  if (t.storage != spv::StorageClassPhysicalStorageBuffer) return;
  t.kind = TypeInfo::kDevicePointer;
  t.scalars = 1;
}

void Types::add(const Instruction& in, uint32_t length) {
  TypeInfo t;
  const auto inside = [&](Ident part) {
    const TypeInfo& p = at(part);
    t.depth = std::max(t.depth, p.depth + 1);
    if (t.depth > kMostDepth) refuse("{}: types inside of types, too deep", name_of(in.op));
    const bool runtime = in.op == spv::OpTypeStruct && p.kind == TypeInfo::kRuntimeArray;
    if (p.scalars == 0 && !runtime) refuse("{}: of %{}, which has no values", name_of(in.op), part);
    return p.scalars;
  };
  switch (in.op) {
    case spv::OpTypeVoid: break;
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat: add_scalar(in, t); break;
    case spv::OpTypePointer:
    case spv::OpTypeForwardPointer: add_pointer(in, t); break;
    case spv::OpTypeFunction: t.kind = TypeInfo::kFunction; break;
    case spv::OpTypeVector:
      t.kind = TypeInfo::kVector;
      t.element = in.at(0);
      t.count = in.at(1);
      if (t.count < 2 || t.count > 4) refuse("OpTypeVector: {} components", t.count);
      t.scalars = inside(t.element) * t.count;
      if (at(t.element).kind != TypeInfo::kScalar) refuse("OpTypeVector: of what is no scalar");
      break;
    case spv::OpTypeMatrix:
      t.kind = TypeInfo::kMatrix;
      t.element = in.at(0);
      t.count = in.at(1);
      if (t.count < 2 || t.count > 4) refuse("OpTypeMatrix: {} columns", t.count);
      t.scalars = inside(t.element) * t.count;
      if (at(t.element).kind != TypeInfo::kVector) refuse("OpTypeMatrix: of what is no vector");
      break;
    case spv::OpTypeArray:
      t.kind = TypeInfo::kArray;
      t.element = in.at(0);
      t.count = length;
      t.scalars = inside(t.element) * length;
      break;
    case spv::OpTypeRuntimeArray:
      t.kind = TypeInfo::kRuntimeArray;
      t.element = in.at(0);
      inside(t.element);
      break;
    case spv::OpTypeStruct:
      t.kind = TypeInfo::kStruct;
      t.members.assign(in.operands.begin(), in.operands.end());
      for (const Ident m : t.members) t.scalars += inside(m);
      break;
    default: refuse("{} is not read", name_of(in.op));
  }
  if (t.scalars > kMostScalars) refuse("{}: {} scalars", name_of(in.op), t.scalars);
  // A forward pointer is its own name, not a result.
  const Ident id = in.op == spv::OpTypeForwardPointer ? in.at(0) : in.result;
  const auto [it, fresh] = all_.try_emplace(id);
  // Others could make a type part of itself.
  const bool completes =
      in.op == spv::OpTypePointer && it->second.is_forward && it->second.storage == t.storage;
  if (!fresh && !completes) refuse("{}: %{} is a type already", name_of(in.op), id);
  it->second = std::move(t);
}

const TypeInfo& Types::at(Ident type) const {
  const auto it = all_.find(type);
  if (it == all_.end()) refuse("%{} is no type", type);
  return it->second;
}

PrimType Types::scalar(Ident type) const {
  const TypeInfo& t = at(type);
  if (t.kind != TypeInfo::kScalar && t.kind != TypeInfo::kDevicePointer) {
    refuse("%{} is no type of scalars", type);
  }
  return t.prim;
}

void Types::gather(Ident type, std::vector<PrimType>& out) const {
  const TypeInfo& t = at(type);
  switch (t.kind) {
    case TypeInfo::kScalar:
    case TypeInfo::kDevicePointer: out.push_back(t.prim); return;
    case TypeInfo::kStruct:
      for (const Ident m : t.members) gather(m, out);
      return;
    default:
      for (uint32_t k = 0; k < t.count; k++) gather(t.element, out);
  }
}

std::vector<PrimType> Types::scalars(Ident type) const {
  if (count(type) > kMostScalarsOfValue) refuse("a value of {} scalars", count(type));
  std::vector<PrimType> out;
  gather(type, out);
  if (out.size() != count(type)) refuse("%{} has no values", type);
  return out;
}

uint64_t Types::count(Ident type) const {
  const uint64_t n = at(type).scalars;
  if (n == 0) refuse("%{} has no values", type);
  return n;
}

std::optional<PrimType> Types::only_scalar(Ident type) const {
  const TypeInfo& t = at(type);
  switch (t.kind) {
    case TypeInfo::kScalar:
    case TypeInfo::kDevicePointer: return t.prim;
    case TypeInfo::kVector:
    case TypeInfo::kMatrix:
    case TypeInfo::kArray: return only_scalar(t.element);
    case TypeInfo::kStruct: break;
    default: return std::nullopt;
  }
  std::optional<PrimType> all;
  for (const Ident m : t.members) {
    const auto one = only_scalar(m);
    if (!one || (all && *all != *one)) return std::nullopt;
    all = one;
  }
  return all;
}

Part Types::part(Ident composite, uint32_t index) const {
  const TypeInfo& t = at(composite);
  if (t.kind == TypeInfo::kStruct) {
    if (index >= t.members.size()) refuse("member {} of %{}", index, composite);
    Part p{t.members[index], 0};
    for (uint32_t k = 0; k < index; k++) p.first += at(t.members[k]).scalars;
    return p;
  }
  const Ident one = element(composite);
  if (t.kind != TypeInfo::kRuntimeArray && index >= t.count) {
    refuse("part {} of %{}", index, composite);
  }
  return {one, index * at(one).scalars};
}

Ident Types::element(Ident composite) const {
  const TypeInfo& t = at(composite);
  if (t.kind != TypeInfo::kVector && t.kind != TypeInfo::kMatrix && t.kind != TypeInfo::kArray &&
      t.kind != TypeInfo::kRuntimeArray) {
    refuse("%{} has no elements", composite);
  }
  return t.element;
}

uint64_t Types::offset(Ident structure, uint32_t member) const {
  const auto bytes = decorations_.find(structure, spv::DecorationOffset, member);
  if (!bytes) refuse("member {} of %{} has no offset", member, structure);
  return *bytes;
}

uint64_t Types::stride(Ident array_or_vector) const {
  const TypeInfo& t = at(array_or_vector);
  if (t.kind == TypeInfo::kVector) return static_cast<uint64_t>(prim_size(scalar(t.element)));
  const auto bytes = decorations_.find(array_or_vector, spv::DecorationArrayStride);
  if (!bytes) refuse("%{} has no stride", array_or_vector);
  return *bytes;
}

bool Types::is_of_matrices(Ident type) const {
  const TypeInfo& t = at(type);
  if (t.kind == TypeInfo::kArray || t.kind == TypeInfo::kRuntimeArray) {
    return is_of_matrices(t.element);
  }
  return t.kind == TypeInfo::kMatrix;
}

MatrixLayout Types::matrix_layout(Ident structure, uint32_t member) const {
  const auto stride = decorations_.find(structure, spv::DecorationMatrixStride, member);
  if (!stride) refuse("member {} of %{} has no stride of matrices", member, structure);
  return {*stride, decorations_.has(structure, spv::DecorationRowMajor, member)};
}

}  // namespace kenaz::spirv

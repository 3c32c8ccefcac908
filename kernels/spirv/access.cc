// Loads, stores and atomics.
#include <algorithm>
#include <numeric>

#include "kernels/spirv/arithmetic.h"
#include "kernels/spirv/layout.h"
#include "kernels/spirv/memory.h"

namespace kenaz::spirv {

using kir::Address;
using kir::AtomicOp;
using kir::AtomicOrder;
using kir::Value;
using kir::Values;

namespace {

struct MemoryOperands {
  uint64_t align = 1;  // in bytes
  bool coherent = false, is_volatile = false;
};

/// Those of an OpLoad or OpStore, from operand `first` on.
MemoryOperands memory_operands(const Instruction& in, size_t first) {
  MemoryOperands out;
  if (in.operands.size() <= first) return out;
  const uint32_t mask = in.at(first);
  const uint32_t known =
      spv::MemoryAccessVolatileMask | spv::MemoryAccessAlignedMask |
      spv::MemoryAccessNontemporalMask | spv::MemoryAccessMakePointerAvailableMask |
      spv::MemoryAccessMakePointerVisibleMask | spv::MemoryAccessNonPrivatePointerMask;
  if ((mask & ~known) != 0) refuse("{}: memory operands {:#x}", name_of(in.op), mask);
  if ((mask & spv::MemoryAccessAlignedMask) != 0) out.align = in.at(first + 1);
  out.is_volatile = (mask & spv::MemoryAccessVolatileMask) != 0;
  out.coherent = (mask & (spv::MemoryAccessMakePointerAvailableMask |
                          spv::MemoryAccessMakePointerVisibleMask)) != 0;
  return out;
}

void qualify(Place& place, const MemoryOperands& how) {
  place.coherent |= how.coherent;
  place.is_volatile |= how.is_volatile;
}

kir::Order order_of(const Place& place) {
  return place.coherent || place.is_volatile ? kir::Order::kCoherent : kir::Order::kPlain;
}

/// What the place's address is a multiple of, if `align` is known: buffers begin at multiples
/// of 16.
uint64_t alignment(const Place& place, uint64_t align) {
  if (!place.buffer) return align;
  uint64_t all = std::gcd(place.offset, uint64_t{16});
  for (const Term& t : place.terms) all = std::gcd(all, t.stride);
  return std::max(all, align);
}

bool is_vector(size_t scalars) { return scalars == 2 || scalars == 4; }

}  // namespace

/// Of a local or shared array.
Address Memory::address(const Place& place, uint64_t scalar) const {
  const Value index = k_.add(place.at, static_cast<int64_t>(scalar));
  if (place.kind == Place::kLocal) return {kir::LocalId{place.array}, index};
  return {kir::SharedId{place.array}, index};
}

// ---- loads

Values Memory::load(const Instruction& in) {
  Place place = place_of(in.at(0));
  const MemoryOperands how = memory_operands(in, 1);
  qualify(place, how);
  if (place.type != in.type) refuse("OpLoad: of another type");
  return load(place, how.align);
}

Values Memory::load(const Place& place, uint64_t align) {
  switch (place.kind) {
    case Place::kVars: return k_.read(place.vars);
    case Place::kDevice: return load_device(place, align);
    case Place::kPush: return load_push(place);
    case Place::kInput: return load_input(place);
    default: break;
  }
  const std::vector<PrimType> types = types_.scalars(place.type);
  const size_t n = types.size();
  if (place.kind == Place::kShared && !place.bits && is_vector(n) && place.multiple % n == 0) {
    const Value all = k_.load({types[0], static_cast<uint8_t>(n)}, address(place, 0));
    Values out;
    for (size_t c = 0; c < n; c++) out.push_back(k_.extract(all, static_cast<int>(c)));
    return out;
  }
  Values out;
  for (size_t c = 0; c < n; c++) {
    const Value held = k_.load({place.bits.value_or(types[c])}, address(place, c));
    out.push_back(from_bits(place, held, types[c]));
  }
  return out;
}

Values Memory::load_device(const Place& place, uint64_t align) {
  const TypeInfo& t = types_.at(place.type);
  const std::vector<Leaf> leaves = layout(types_, place);
  const PrimType first = leaves[0].type;
  const size_t n = leaves.size();
  if (place.is_volatile && n == 1) return {load_volatile(place, first)};
  const uint64_t bytes = n * static_cast<uint64_t>(prim_size(first));
  const kir::Order order = order_of(place);
  Values out;
  if (t.kind == TypeInfo::kVector && place.component_stride == 0 && is_vector(n) &&
      alignment(place, align) % bytes == 0) {
    const kir::Type type{first, static_cast<uint8_t>(n)};
    const Value all = k_.load(type, device_address(place, first, 0), order);
    for (size_t c = 0; c < n; c++) out.push_back(k_.extract(all, static_cast<int>(c)));
    return out;
  }
  for (const Leaf& leaf : leaves) {
    out.push_back(k_.load({leaf.type}, device_address(place, leaf.type, leaf.bytes), order));
  }
  return out;
}

/// What may change while the kernel looks: an atomic load, where there are such.
Value Memory::load_volatile(const Place& place, PrimType type) {
  const Address at = device_address(place, type, 0);
  if (!is_integer(type) || prim_size(type) < 4) {
    return k_.load({type}, at, kir::Order::kCoherent);
  }
  return k_.atomic(AtomicOp::kLoad, type, at);
}

Values Memory::load_push(const Place& place) {
  Values out;
  for (const Leaf& leaf : layout(types_, place)) {
    const uint64_t offset = place.offset + leaf.bytes;
    if (offset > UINT32_MAX) refuse("OpLoad: a push constant at byte {}", offset);
    out.push_back(argument({Input::kPush, static_cast<uint32_t>(offset)}, leaf.type, false));
  }
  return out;
}

Values Memory::load_input(const Place& place) {
  const std::vector<PrimType> types = types_.scalars(place.type);
  Values out;
  for (size_t c = 0; c < types.size(); c++) {
    const uint32_t dim = place.component ? *place.component : static_cast<uint32_t>(c);
    const Value v = as_type(k_, input_component(place.input, dim), types[c]);
    if (v.type.prim != types[c]) refuse("OpLoad: an input of another type");
    out.push_back(v);
  }
  return out;
}

Value Memory::dimension_of_group(uint32_t dim) {
  Value number = k_.group();
  for (uint32_t d = 0; d < dim; d++) {
    number = k_.quot(number, k_.to_i64(argument({Input::kGroups, d}, PrimType::kU32, false)));
  }
  if (dim < 2) {
    number = k_.rem(number, k_.to_i64(argument({Input::kGroups, dim}, PrimType::kU32, false)));
  }
  return k_.convert(number, PrimType::kU32);
}

Value Memory::input_component(uint32_t input, uint32_t dim) {
  if (dim > 2) refuse("OpLoad: component {} of an input", dim);
  const auto thread = [&] {
    Value number = k_.bitcast(k_.local(), PrimType::kU32);
    for (uint32_t d = 0; d < dim; d++)
      number = k_.quot(number, PrimValue{PrimType::kU32, local_size_[d]});
    return dim == 2 ? number : k_.rem(number, PrimValue{PrimType::kU32, local_size_[dim]});
  };
  switch (input) {
    case spv::BuiltInNumWorkgroups: return argument({Input::kGroups, dim}, PrimType::kU32, false);
    case spv::BuiltInWorkgroupId: return dimension_of_group(dim);
    case spv::BuiltInLocalInvocationId: return thread();
    case spv::BuiltInGlobalInvocationId: {
      const Value size = PrimValue{PrimType::kU32, local_size_[dim]};
      return k_.add(k_.mul(dimension_of_group(dim), size), thread());
    }
    case spv::BuiltInLocalInvocationIndex: return k_.local();
    case spv::BuiltInSubgroupId: return k_.subgroup();
    case spv::BuiltInNumSubgroups: return k_.subgroups();
    case spv::BuiltInSubgroupSize: return k_.subgroup_size();
    case spv::BuiltInSubgroupLocalInvocationId: return k_.lane();
    default: refuse("OpLoad: of input {}", input);
  }
}

// ---- stores

void Memory::store(const Instruction& in) {
  Place place = place_of(in.at(0));
  const Values& values = items_.values(in.at(1));
  const MemoryOperands how = memory_operands(in, 2);
  qualify(place, how);
  const std::vector<PrimType> types = types_.scalars(place.type);
  const bool fits = std::equal(types.begin(), types.end(), values.begin(), values.end(),
                               [](PrimType t, const Value& v) { return v.type == kir::Type{t}; });
  if (!fits) refuse("OpStore: of another type");
  switch (place.kind) {
    case Place::kVars: return k_.assign(place.vars, values);
    case Place::kDevice: return store_device(place, values, how.align);
    case Place::kLocal:
    case Place::kShared: break;
    default: refuse("OpStore: to what only the host writes");
  }
  const size_t n = values.size();
  if (place.kind == Place::kShared && !place.bits && is_vector(n) && place.multiple % n == 0) {
    return k_.store(address(place, 0), k_.compose(values));
  }
  for (size_t c = 0; c < n; c++) k_.store(address(place, c), to_bits(place, values[c]));
}

void Memory::store_device(const Place& place, const Values& values, uint64_t align) {
  const std::vector<Leaf> leaves = layout(types_, place);
  const size_t n = leaves.size();
  const uint64_t bytes = n * static_cast<uint64_t>(prim_size(leaves[0].type));
  const kir::Order order = order_of(place);
  if (types_.at(place.type).kind == TypeInfo::kVector && place.component_stride == 0 &&
      is_vector(n) && alignment(place, align) % bytes == 0) {
    return k_.store(device_address(place, leaves[0].type, 0), k_.compose(values), order);
  }
  for (size_t c = 0; c < n; c++) {
    k_.store(device_address(place, leaves[c].type, leaves[c].bytes), values[c], order);
  }
}

// ---- atomics

namespace {

struct AtomicRow {
  AtomicOp op;
  enum { kAsIs, kSigned, kUnsigned } sign = kAsIs;
  /// kAdd: of this instead of an operand, or of the operand's negative.
  enum { kOperand, kOne, kMinusOne, kNegative } what = kOperand;
};

AtomicRow atomic_row(spv::Op op) {
  switch (op) {
    case spv::OpAtomicLoad: return {AtomicOp::kLoad};
    case spv::OpAtomicStore: return {AtomicOp::kStore};
    case spv::OpAtomicExchange: return {AtomicOp::kExchange};
    case spv::OpAtomicCompareExchange: return {AtomicOp::kCas};
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicIAdd: return {AtomicOp::kAdd};
    case spv::OpAtomicISub: return {AtomicOp::kAdd, AtomicRow::kAsIs, AtomicRow::kNegative};
    case spv::OpAtomicIIncrement: return {AtomicOp::kAdd, AtomicRow::kAsIs, AtomicRow::kOne};
    case spv::OpAtomicIDecrement: return {AtomicOp::kAdd, AtomicRow::kAsIs, AtomicRow::kMinusOne};
    case spv::OpAtomicSMin: return {AtomicOp::kMin, AtomicRow::kSigned};
    case spv::OpAtomicUMin: return {AtomicOp::kMin, AtomicRow::kUnsigned};
    case spv::OpAtomicSMax: return {AtomicOp::kMax, AtomicRow::kSigned};
    case spv::OpAtomicUMax: return {AtomicOp::kMax, AtomicRow::kUnsigned};
    case spv::OpAtomicAnd: return {AtomicOp::kAnd};
    case spv::OpAtomicOr: return {AtomicOp::kOr};
    case spv::OpAtomicXor: return {AtomicOp::kXor};
    default: refuse("{} is not read", name_of(op));
  }
}

}  // namespace

AtomicOrder Memory::order(Ident semantics) const {
  const uint64_t mask = items_.constant(semantics).bits;
  const bool both = (mask & (spv::MemorySemanticsAcquireReleaseMask |
                             spv::MemorySemanticsSequentiallyConsistentMask)) != 0;
  const bool acquires = both || (mask & spv::MemorySemanticsAcquireMask) != 0;
  const bool releases = both || (mask & spv::MemorySemanticsReleaseMask) != 0;
  return acquires ? (releases ? AtomicOrder::kAcquireRelease : AtomicOrder::kAcquire)
                  : (releases ? AtomicOrder::kRelease : AtomicOrder::kRelaxed);
}

Values Memory::atomic(const Instruction& in) {
  const AtomicRow row = atomic_row(in.op);
  const Place place = place_of(in.at(0));
  PrimType type = types_.scalar(place.type);
  const PrimType own = type;
  if (row.sign == AtomicRow::kSigned) type = signed_of(type);
  if (row.sign == AtomicRow::kUnsigned) type = unsigned_of(type);
  const bool in_shared = place.kind == Place::kShared;
  const bool fits = in_shared ? !place.bits || place.bits == type : place.kind == Place::kDevice;
  const bool sums = in.op == spv::OpAtomicFAddEXT;
  if (is_float(type) != sums || prim_size(type) < 4 || !fits) {
    refuse("{}: on {} there", name_of(in.op), prim_name(type));
  }
  const Address at = in_shared ? address(place, 0) : device_address(place, type, 0);
  const auto operand = [&](size_t n) {
    const Value v = as_type(k_, items_.scalar(in.at(n)), type);
    if (v.type.prim != type) refuse("{}: an operand of another type", name_of(in.op));
    return v;
  };
  const AtomicOrder o = order(in.at(2));
  if (row.op == AtomicOp::kStore) {
    if (o == AtomicOrder::kAcquire || o == AtomicOrder::kAcquireRelease) {
      refuse("OpAtomicStore: that acquires");
    }
    k_.atomic(row.op, type, at, operand(3), o);
    return {};
  }
  if (row.op == AtomicOp::kLoad && o != AtomicOrder::kAcquire && o != AtomicOrder::kRelaxed) {
    refuse("OpAtomicLoad: that releases");
  }
  if (types_.scalar(in.type) != own) refuse("{}: a result of another type", name_of(in.op));
  Value old;
  if (row.op == AtomicOp::kCas) {  // the semantics of a failed comparison are left out
    old = k_.compare_and_swap(type, at, operand(5), operand(4), o);
  } else {
    Value with;
    if (row.what == AtomicRow::kOne || row.what == AtomicRow::kMinusOne) {
      with = PrimValue::of_int(type, row.what == AtomicRow::kOne ? 1 : -1);
    } else if (row.op != AtomicOp::kLoad) {
      with = operand(3);
      if (row.what == AtomicRow::kNegative) with = k_.sub(kir::Builder::same_type(with, 0), with);
    }
    old = k_.atomic(row.op, type, at, with, o);
  }
  return {as_type(k_, old, own)};
}

}  // namespace kenaz::spirv

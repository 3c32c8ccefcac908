// Variables, and the ways from a pointer to a part of what it points to.
#include "kernels/spirv/memory.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/spirv/arithmetic.h"
#include "kernels/spirv/layout.h"

namespace kenaz::spirv {

using kir::Value;
using kir::Values;

namespace {

/// The least size of an element that an index of 32 bits can overflow with.
constexpr uint64_t kLargeUnit = 1 << 24;
/// Indices that are known are part of an offset up to here.
constexpr int64_t kMostConstantIndex = 1 << 24;
/// The scalars of an array that a thread, or a workgroup, has.
constexpr uint64_t kMostOfLocal = 1 << 16, kMostOfShared = 1 << 18;

/// Then it is no set of variables, since parts may be chosen by an index that is not known.
bool has_array(const Types& types, Ident type) {
  const TypeInfo& t = types.at(type);
  if (t.kind == TypeInfo::kArray || t.kind == TypeInfo::kMatrix) return true;
  for (const Ident m : t.members) {
    if (has_array(types, m)) return true;
  }
  return false;
}

std::string name_of_variable(const Module& module, Ident id) {
  const auto it = module.names.find(id);
  return it == module.names.end() || it->second.empty() ? fmt::format("_{}", id) : it->second;
}

}  // namespace

// ---- variables

Item Memory::variable(const Instruction& in) {
  const TypeInfo& pointer = types_.at(in.type);
  if (pointer.kind != TypeInfo::kPointer) refuse("OpVariable: of device memory");
  Place place;
  place.type = pointer.element;
  const std::string name = name_of_variable(module_, in.result);
  const auto element = [&](uint64_t most) {
    if (types_.count(place.type) > most) refuse("OpVariable: {} is too large", name);
    if (const auto type = types_.only_scalar(place.type)) return *type;
    place.bits = bits_type(place.type, in.at(0) == spv::StorageClassWorkgroup);
    if (!place.bits) refuse("OpVariable: {} is an array of different types", name);
    return *place.bits;
  };
  switch (in.at(0)) {
    case spv::StorageClassFunction:
    case spv::StorageClassPrivate:
      if (has_array(types_, place.type) || module_.indexed.contains(in.result)) {
        const PrimType type = element(kMostOfLocal);
        const auto [it, fresh] = local_arrays_.try_emplace(in.result);
        if (fresh) {
          const auto n = static_cast<int32_t>(types_.count(place.type));
          it->second = k_.local_array(name, type, n).index;
        }
        place.kind = Place::kLocal;
        place.array = it->second;
        place.at = kir::i64(0);
      } else {
        for (const PrimType t : types_.scalars(place.type)) place.vars.push_back(k_.declare({t}));
      }
      if (in.operands.size() > 1) initialise(place, in.at(1));
      break;
    case spv::StorageClassWorkgroup: {
      const PrimType type = element(kMostOfShared);
      const auto n = static_cast<int32_t>(types_.count(place.type));
      if (in.operands.size() > 1) refuse("OpVariable: {} has an initializer", name);
      place.kind = Place::kShared;
      place.array = k_.shared(name, type, {n}).index;
      place.at = kir::i64(0);
      break;
    }
    case spv::StorageClassPushConstant: place.kind = Place::kPush; break;
    case spv::StorageClassUniform:  // buffers, too, in modules for Vulkan 1.0
    case spv::StorageClassStorageBuffer: {
      const auto set = module_.decorations.find(in.result, spv::DecorationDescriptorSet);
      const auto binding = module_.decorations.find(in.result, spv::DecorationBinding);
      if (types_.at(place.type).kind != TypeInfo::kStruct) {
        refuse("OpVariable: {} is no buffer, or several", name);
      }
      place.kind = Place::kDevice;
      place.buffer = Input{Input::kBuffer, binding.value_or(0), set.value_or(0)};
      const std::string& of_type = name_of_variable(module_, place.type);
      const bool named = !name.starts_with('_') || of_type.starts_with('_');
      buffer_names_.emplace(std::pair(place.buffer->set, place.buffer->number),
                            named ? name : of_type);
      break;
    }
    case spv::StorageClassInput: {
      const auto input = module_.decorations.find(in.result, spv::DecorationBuiltIn);
      if (!input) refuse("OpVariable: {} is an input that is not read", name);
      place.kind = Place::kInput;
      place.input = *input;
      break;
    }
    default: refuse("OpVariable: {} is in storage class {}", name, in.at(0));
  }
  place.coherent = module_.decorations.has(in.result, spv::DecorationCoherent);
  place.is_volatile = module_.decorations.has(in.result, spv::DecorationVolatile);
  return {in.type, {}, place, {}};
}

/// Of an array that holds scalars of several types: what they fit in. In shared memory only what
/// has their size, since figures and races are told by bytes.
std::optional<PrimType> Memory::bits_type(Ident type, bool shared) const {
  bool words = true;
  for (const PrimType t : types_.scalars(type)) {
    if (t == PrimType::kBool) return std::nullopt;
    words = words && prim_size(t) == 4;
  }
  if (words) return PrimType::kU32;
  return shared ? std::nullopt : std::optional(PrimType::kU64);
}

Value Memory::to_bits(const Place& place, const Value& v) {
  if (!place.bits) return v;
  constexpr PrimType kOfSize[] = {PrimType::kU8, PrimType::kU16, PrimType::kU32, PrimType::kU64};
  const auto size = static_cast<unsigned>(prim_size(v.type.prim));
  return k_.convert(k_.bitcast(v, kOfSize[std::bit_width(size) - 1]), *place.bits);
}

Value Memory::from_bits(const Place& place, const Value& v, PrimType type) {
  if (!place.bits) return v;
  constexpr PrimType kOfSize[] = {PrimType::kU8, PrimType::kU16, PrimType::kU32, PrimType::kU64};
  const auto size = static_cast<unsigned>(prim_size(type));
  return k_.bitcast(k_.convert(v, kOfSize[std::bit_width(size) - 1]), type);
}

void Memory::initialise(const Place& place, Ident initializer) {
  const Values& values = items_.values(initializer);
  if (values.size() != types_.count(place.type))
    refuse("OpVariable: an initializer of another type");
  for (size_t n = 0; n < values.size(); n++) {
    if (place.kind == Place::kLocal) {
      if (types_.scalars(place.type)[n] != values[n].type.prim) {
        refuse("OpVariable: an initializer of another type");
      }
      k_.store(address(place, n), to_bits(place, values[n]));
    } else {
      if (place.vars[n].type != values[n].type)
        refuse("OpVariable: an initializer of another type");
      k_.assign(place.vars[n], values[n]);
    }
  }
}

/// An argument of the kernel, the same one each time.
Value Memory::argument(const Input& input, PrimType type, bool is_block) {
  kir::Kernel& kernel = k_.kernel();
  for (size_t n = 0; n < inputs_.size(); n++) {
    const kir::ValId v = kernel.args[n].val;
    if (inputs_[n] == input && kernel.vals[v.index].prim == type) return {{type}, v};
  }
  const char* kinds[] = {"push", "groups", "buffer", "bytes"};
  std::string name = fmt::format("{}{}", kinds[input.kind], input.number);
  if (input.kind == Input::kBuffer) {
    const std::string& given = buffer_names_[{input.set, input.number}];
    // What has no name in the text has none of kernel IR's either.
    name = given.starts_with('_') ? fmt::format("buffer{}_{}", input.set, input.number) : given;
  }
  inputs_.push_back(input);
  return is_block ? k_.block_arg(name) : k_.arg(name, type);
}

// ---- pointers

Place Memory::place_of(Ident pointer) const {
  const Item& item = items_.at(pointer);
  if (item.place) return *item.place;
  if (item.scalars.size() != 1 || !types_.is_device_pointer(item.type)) {
    refuse("%{} is no pointer that is read", pointer);
  }
  Place place;
  place.kind = Place::kDevice;
  place.type = types_.at(item.type).element;
  place.at = item.scalars[0];
  return place;
}

Item Memory::access_chain(const Instruction& in) {
  Place place = place_of(in.at(0));
  const bool of_pointer = in.op == spv::OpPtrAccessChain || in.op == spv::OpInBoundsPtrAccessChain;
  size_t next = 1;
  if (of_pointer) {
    const auto stride =
        module_.decorations.find(items_.at(in.at(0)).type, spv::DecorationArrayStride);
    if (place.kind != Place::kDevice || !stride) refuse("{} is not read here", name_of(in.op));
    place.terms.push_back({wide(items_.scalar(in.at(next)), *stride), *stride});
    next++;
  }
  for (; next < in.operands.size(); next++) step(place, in.at(next));
  if (types_.at(in.type).element != place.type) refuse("{}: to another type", name_of(in.op));
  return {in.type, {}, std::move(place), {}};
}

void Memory::step(Place& place, Ident index) {
  if (!is_integer(items_.scalar(index).type.prim)) refuse("an index that is no integer");
  const TypeInfo& t = types_.at(place.type);
  if (t.kind == TypeInfo::kStruct) {
    const auto member = static_cast<uint32_t>(items_.constant(index).bits);
    place.coherent |= module_.decorations.has(place.type, spv::DecorationCoherent, member);
    place.is_volatile |= module_.decorations.has(place.type, spv::DecorationVolatile, member);
  }
  switch (place.kind) {
    case Place::kVars: {
      const Part part = types_.part(place.type, static_cast<uint32_t>(items_.constant(index).bits));
      const auto first = place.vars.begin() + static_cast<int64_t>(part.first);
      const auto n = static_cast<int64_t>(types_.count(part.type));
      place.vars = kir::Vars(first, first + n);
      place.type = part.type;
      return;
    }
    case Place::kLocal:
    case Place::kShared: return step_in_array(place, index);
    case Place::kDevice: return step_in_device(place, index);
    case Place::kPush: {
      const auto n = static_cast<uint32_t>(items_.constant(index).bits);
      types_.part(place.type, n);  // refuses what is not there
      if (t.kind == TypeInfo::kStruct) return step_to_member(types_, place, n);
      place.offset += n * step_to_element(types_, place);
      return;
    }
    case Place::kInput:
      place.component = static_cast<uint32_t>(items_.constant(index).bits);
      place.type = types_.part(place.type, *place.component).type;
  }
}

/// A signed index as i64, such that `unit` times it does not leave 64 bits: what is far out stays
/// far out.
Value Memory::wide(const Value& index, uint64_t unit) {
  const Value i = k_.to_i64(as_type(k_, index, signed_of(index.type.prim)));
  if (unit <= 1 || (prim_size(index.type.prim) < 8 && unit < kLargeUnit)) return i;
  const int64_t far = (int64_t{1} << 56) / static_cast<int64_t>(unit);
  return k_.min(k_.max(i, kir::i64(-far)), kir::i64(far));
}

/// In an array of the kernel, whose elements are scalars.
void Memory::step_in_array(Place& place, Ident index) {
  uint64_t by = 1;
  Value offset;
  if (types_.at(place.type).kind == TypeInfo::kStruct) {
    const Part part = types_.part(place.type, static_cast<uint32_t>(items_.constant(index).bits));
    by = part.first;
    offset = kir::i64(static_cast<int64_t>(part.first));
    place.type = part.type;
  } else {
    place.type = types_.element(place.type);
    by = types_.count(place.type);
    offset = k_.mul(wide(items_.scalar(index), by), static_cast<int64_t>(by));
  }
  place.at = k_.add(place.at, offset);
  place.multiple = std::gcd(place.multiple, by);
}

void Memory::step_in_device(Place& place, Ident index) {
  if (types_.at(place.type).kind == TypeInfo::kStruct) {
    return step_to_member(types_, place, static_cast<uint32_t>(items_.constant(index).bits));
  }
  const Value& n = items_.scalar(index);
  const uint64_t stride = step_to_element(types_, place);
  if (n.is_const() && n.constant().as_i64() >= 0 && n.constant().as_i64() < kMostConstantIndex) {
    place.offset += static_cast<uint64_t>(n.constant().as_i64()) * stride;
  } else {
    place.terms.push_back({wide(n, stride), stride});
  }
}

/// The scalar of a place's value that is so many bytes behind its begin. A buffer's begin is the
/// base, where the layout lets it, so that the interpreter knows which block must hold the place.
kir::Address Memory::device_address(const Place& place, PrimType type, uint64_t bytes) {
  const auto size = static_cast<uint64_t>(prim_size(type));
  const uint64_t offset = place.offset + bytes;
  Value base = place.buffer ? argument(*place.buffer, PrimType::kU64, true) : place.at;
  const bool counts =
      offset % size == 0 && std::all_of(place.terms.begin(), place.terms.end(),
                                        [&](const Term& t) { return t.stride % size == 0; });
  const uint64_t unit = counts ? size : 1;
  Value index = kir::i64(static_cast<int64_t>(offset / unit));
  for (const Term& t : place.terms) {
    index = k_.add(index, k_.mul(t.index, static_cast<int64_t>(t.stride / unit)));
  }
  if (counts && (place.buffer || !place.terms.empty())) return {base, index};
  if (!index.is_int(0)) {
    const Value scale = kir::i64(static_cast<int64_t>(counts ? size : 1));
    base = k_.add(base, k_.bitcast(k_.mul(index, scale), PrimType::kU64));
  }
  return {base, kir::i64(0)};
}

Values Memory::array_length(const Instruction& in) {
  const Place place = place_of(in.at(0));
  const uint32_t member = in.at(1);
  const Part part = types_.part(place.type, member);
  if (!place.buffer || types_.at(part.type).kind != TypeInfo::kRuntimeArray) {
    refuse("OpArrayLength: of what is no buffer's");
  }
  const Input of{Input::kBytes, place.buffer->number, place.buffer->set};
  const Value bytes = k_.bitcast(argument(of, PrimType::kU64, false), PrimType::kI64);
  const Value rest =
      k_.max(k_.sub(bytes, static_cast<int64_t>(types_.offset(place.type, member))), kir::i64(0));
  const auto stride = static_cast<int64_t>(types_.stride(part.type));
  if (stride == 0) refuse("OpArrayLength: of elements without size");
  return {k_.convert(k_.quot(rest, kir::i64(stride)), PrimType::kU32)};
}

}  // namespace kenaz::spirv

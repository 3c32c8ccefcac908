// Variables, and the ways from a pointer to a part of what it points to.
#include "kernels/spirv/memory.h"

#include <numeric>

#include "kernels/spirv/arithmetic.h"

namespace kenaz::spirv {

using kir::Value;
using kir::Values;

namespace {

/// The scalars of an array that a thread, or a workgroup, has.
constexpr uint64_t kMostOfLocal = 1 << 16, kMostOfShared = 1 << 18;

bool has_array(const Types& types, Ident type) {
  const TypeInfo& t = types.at(type);
  if (t.kind == TypeInfo::kArray || t.kind == TypeInfo::kRuntimeArray) return true;
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
  const auto of_one_type = [&](uint64_t most) {
    const auto type = types_.only_scalar(place.type);
    if (!type) refuse("OpVariable: {} is an array of different types", name);
    if (types_.count(place.type) > most) refuse("OpVariable: {} is too large", name);
    return *type;
  };
  switch (in.at(0)) {
    case spv::StorageClassFunction:
    case spv::StorageClassPrivate:
      if (has_array(types_, place.type)) {
        const PrimType type = of_one_type(kMostOfLocal);
        const auto [it, fresh] = local_arrays_.try_emplace(in.result);
        if (fresh) {
          const auto n = static_cast<int32_t>(types_.count(place.type));
          it->second = k_.local_array(name, type, n).index;
        }
        place.kind = Place::kLocal;
        place.array = it->second;
        place.at = kir::i32(0);
      } else {
        for (const PrimType t : types_.scalars(place.type)) place.vars.push_back(k_.declare({t}));
      }
      if (in.operands.size() > 1) initialise(place, in.at(1));
      break;
    case spv::StorageClassWorkgroup: {
      const PrimType type = of_one_type(kMostOfShared);
      const auto n = static_cast<int32_t>(types_.count(place.type));
      if (in.operands.size() > 1) refuse("OpVariable: {} has an initializer", name);
      place.kind = Place::kShared;
      place.array = k_.shared(name, type, {n}).index;
      place.at = kir::i32(0);
      break;
    }
    case spv::StorageClassPushConstant: place.kind = Place::kPush; break;
    case spv::StorageClassStorageBuffer: {
      const auto set = module_.decorations.find(in.result, spv::DecorationDescriptorSet);
      const auto binding = module_.decorations.find(in.result, spv::DecorationBinding);
      place.kind = Place::kDevice;
      place.at =
          argument({Input::kBuffer, binding.value_or(0), set.value_or(0)}, PrimType::kU64, true);
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

void Memory::initialise(const Place& place, Ident initializer) {
  const Values& values = items_.values(initializer);
  if (values.size() != types_.count(place.type))
    refuse("OpVariable: an initializer of another type");
  for (size_t n = 0; n < values.size(); n++) {
    if (place.kind == Place::kLocal) {
      if (types_.only_scalar(place.type) != values[n].type.prim) {
        refuse("OpVariable: an initializer of another type");
      }
      k_.store(address(place, n), values[n]);
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
  const char* kinds[] = {"push", "groups", "buffer"};
  const std::string name = input.kind == Input::kBuffer
                               ? fmt::format("buffer{}_{}", input.set, input.number)
                               : fmt::format("{}{}", kinds[input.kind], input.number);
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
    const Value index = k_.to_i64(
        as_type(k_, items_.scalar(in.at(next)), signed_of(items_.scalar(in.at(next)).type.prim)));
    place.at = k_.add(place.at, k_.bitcast(k_.mul(index, int64_t{*stride}), PrimType::kU64));
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
      const Part part = types_.part(place.type, n);
      place.offset += t.kind == TypeInfo::kStruct ? types_.offset(place.type, n)
                                                  : n * types_.stride(place.type);
      place.type = part.type;
      return;
    }
    case Place::kInput:
      place.component = static_cast<uint32_t>(items_.constant(index).bits);
      place.type = types_.part(place.type, *place.component).type;
  }
}

/// In an array of the kernel, whose elements are scalars.
void Memory::step_in_array(Place& place, Ident index) {
  uint64_t by = 1;
  Value offset;
  if (types_.at(place.type).kind == TypeInfo::kStruct) {
    const Part part = types_.part(place.type, static_cast<uint32_t>(items_.constant(index).bits));
    by = part.first;
    offset = kir::i32(static_cast<int32_t>(part.first));
    place.type = part.type;
  } else {
    place.type = types_.element(place.type);
    by = types_.count(place.type);
    const Value& n = items_.scalar(index);
    offset = k_.mul(k_.to_i32(as_type(k_, n, signed_of(n.type.prim))), static_cast<int64_t>(by));
  }
  place.at = k_.add(place.at, offset);
  place.multiple = std::gcd(place.multiple, by);
}

void Memory::step_in_device(Place& place, Ident index) {
  if (types_.at(place.type).kind == TypeInfo::kStruct) {
    const auto n = static_cast<uint32_t>(items_.constant(index).bits);
    place.at = k_.add(place.at, static_cast<int64_t>(types_.offset(place.type, n)));
    place.type = types_.part(place.type, n).type;
    return;
  }
  const auto stride = static_cast<int64_t>(types_.stride(place.type));
  const Value& n = items_.scalar(index);
  const Value i = k_.to_i64(as_type(k_, n, signed_of(n.type.prim)));
  place.at = k_.add(place.at, k_.bitcast(k_.mul(i, stride), PrimType::kU64));
  place.type = types_.element(place.type);
}

}  // namespace kenaz::spirv

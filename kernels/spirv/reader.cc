#include "kernels/spirv/reader.h"

#include <algorithm>

#include "kernels/kir/validate.h"
#include "kernels/spirv/arithmetic.h"
#include "kernels/spirv/linear.h"
#include "kernels/spirv/together.h"

namespace kenaz::spirv {

using kir::Value;
using kir::Values;

Reader::Reader(std::span<const uint32_t> words, const Module& module, const ReadOptions& options)
    : module_(module),
      options_(options),
      k_(out_.kernel),
      types_(module.decorations),
      memory_(module, types_, items_, k_),
      places_(words, module) {
  out_.kernel.name = options.name;
  out_.kernel.prov = options.prov;
  k_.set_prov(options.prov);
}

ReadKernel Reader::run() {
  globals();
  const Function& main = module_.functions.at(module_.main);
  if (!main.params.empty()) refuse("OpEntryPoint: a function with parameters");
  items_.enter();
  read_body(*this, main);
  out_.inputs = memory_.take_inputs();
  if (!options_.prov.valid()) {
    out_.places = places_.take_places();
    out_.files = places_.take_files();
  }
  return std::move(out_);
}

// ---- types, constants, variables of the module

void Reader::globals() {
  // The size of a workgroup is a constant, which may stand anywhere among the constants.
  std::vector<const Instruction*> variables;
  for (const Instruction& in : module_.globals) {
    if (in.op == spv::OpVariable) {
      variables.push_back(&in);
    } else {
      about(in, [&] { global(in); });
    }
  }
  group_size();
  for (const Instruction* in : variables) {
    about(*in, [&] { define_pointer(*in, memory_.variable(*in)); });
  }
}

void Reader::global(const Instruction& in) {
  count(1);
  if (in.op >= spv::OpTypeVoid && in.op <= spv::OpTypeForwardPointer) {
    const bool array = in.op == spv::OpTypeArray;
    const uint64_t length = array ? items_.constant(in.at(1)).bits : 0;
    if (array && (length == 0 || length > Types::kMostScalars)) {
      refuse("OpTypeArray: {} elements", length);
    }
    types_.add(in, static_cast<uint32_t>(length));
  } else {
    constant(in);
  }
}

/// Its value's bits, if the options say.
std::optional<uint64_t> Reader::specialised(const Instruction& in) {
  const auto id = module_.decorations.find(in.result, spv::DecorationSpecId);
  if (!id) return std::nullopt;
  const auto name = module_.names.find(in.result);
  out_.spec_constants[*id] = {name == module_.names.end() ? "" : name->second,
                              types_.scalar(in.type)};
  if (const auto it = options_.specialised.find(*id); it != options_.specialised.end()) {
    return it->second;
  }
  if (*id >= options_.constants.size()) return std::nullopt;
  return options_.constants[*id];
}

Values Reader::literal(const Instruction& in) {
  const PrimType type = types_.scalar(in.type);
  uint64_t bits = in.at(0) | static_cast<uint64_t>(in.at(1)) << 32;
  if (in.op == spv::OpSpecConstant) bits = specialised(in).value_or(bits);
  if (prim_size(type) < 8) bits &= (uint64_t{1} << 8 * prim_size(type)) - 1;
  if (type == PrimType::kBool) refuse("{}: a truth value", name_of(in.op));
  return {PrimValue{type, bits}};
}

void Reader::constant(const Instruction& in) {
  switch (in.op) {
    case spv::OpConstantTrue:
    case spv::OpConstantFalse: return define(in, {kir::boolean(in.op == spv::OpConstantTrue)});
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse: {
      const bool own = in.op == spv::OpSpecConstantTrue;
      return define(in, {kir::boolean(specialised(in).value_or(own ? 1 : 0) != 0)});
    }
    case spv::OpConstant:
    case spv::OpSpecConstant: return define(in, literal(in));
    case spv::OpConstantNull: return zero(in);
    case spv::OpUndef: return define(in, undefined(in.type));
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
      return define(in, value(spv::OpCompositeConstruct, in.type, in.operands));
    case spv::OpSpecConstantOp: {
      if (in.operands.empty() || in.at(0) > 0xffff) refuse("OpSpecConstantOp: of nothing");
      const auto op = static_cast<spv::Op>(in.at(0));
      Values all = value(op, in.type, in.operands.subspan(1));
      const bool known = std::all_of(all.begin(), all.end(), [](auto& v) { return v.is_const(); });
      if (!known) refuse("OpSpecConstantOp: {} is no constant", name_of(op));
      return define(in, std::move(all));
    }
    default: refuse("{} is not read", name_of(in.op));
  }
}

void Reader::zero(const Instruction& in) {
  Values all;
  for (const PrimType t : types_.scalars(in.type)) all.push_back(PrimValue{t, 0});
  define(in, std::move(all));
}

Values Reader::undefined(Ident type) {
  Values all;
  const std::vector<PrimType> types = types_.scalars(type);
  count(types.size());
  for (const PrimType t : types) all.push_back(k_.read(k_.declare(kir::Type{t})));
  return all;
}

void Reader::group_size() {
  std::array<uint32_t, 3> size{};
  std::copy_n(module_.local_size, 3, size.begin());
  for (size_t d = 0; d < 3; d++) {
    const Ident id = module_.local_size_ids[d];
    if (id != 0) size[d] = static_cast<uint32_t>(items_.constant(id).bits);
  }
  for (const Instruction& in : module_.globals) {
    const auto what = module_.decorations.find(in.result, spv::DecorationBuiltIn);
    if (what != spv::BuiltInWorkgroupSize || in.op == spv::OpVariable) continue;
    const Values& all = items_.values(in.result);
    for (size_t d = 0; d < 3 && d < all.size(); d++) {
      if (!all[d].is_const()) refuse("the size of a workgroup is no constant");
      size[d] = static_cast<uint32_t>(all[d].constant().bits);
    }
  }
  constexpr uint64_t kMost = 1024;
  uint64_t threads = 1;
  for (const uint32_t n : size) threads *= std::min<uint64_t>(n, kMost + 1);
  if (threads == 0 || threads > kMost) refuse("OpExecutionMode: {} threads", threads);
  out_.kernel.group_size.constant = static_cast<int32_t>(threads);
  memory_.set_local_size(size);
}

// ---- values

void Reader::define(const Instruction& in, Values values) {
  const std::vector<PrimType> types = types_.scalars(in.type);
  const bool fits = std::equal(types.begin(), types.end(), values.begin(), values.end(),
                               [](PrimType t, const Value& v) { return v.type == kir::Type{t}; });
  if (!fits) refuse("{}: a result of another type", name_of(in.op));
  count(values.size());
  items_.define(in.result, {in.type, std::move(values), {}, {}});
}

void Reader::define_pointer(const Instruction& in, Item pointer) {
  if (pointer.place) count(pointer.place->vars.size());
  items_.define(in.result, std::move(pointer));
}

Values Reader::value(spv::Op op, Ident type, std::span<const uint32_t> operands) {
  if (auto made = composite(op, type, operands)) return std::move(*made);
  std::vector<Values> all;
  const bool extended = op == spv::OpExtInst;
  if (extended && (operands.size() < 2 || !module_.glsl_sets.contains(operands[0]))) {
    refuse("OpExtInst: of another set than GLSL.std.450");
  }
  for (const uint32_t id : operands.subspan(extended ? 2 : 0)) all.push_back(items_.values(id));
  const std::vector<PrimType> result = types_.scalars(type);
  if (extended) return glsl_std(k_, operands[1], all, result);
  auto made = arithmetic(k_, op, all, result);
  if (!made) refuse("{} is not read", name_of(op));
  return std::move(*made);
}

Part Reader::part_at(Ident type, std::span<const uint32_t> indices) const {
  Part at{type, 0};
  for (const uint32_t index : indices) {
    const Part next = types_.part(at.type, index);
    at = {next.type, at.first + next.first};
  }
  return at;
}

std::optional<Values> Reader::composite(spv::Op op, Ident type,
                                        std::span<const uint32_t> operands) {
  const auto operand = [&](size_t n) { return n < operands.size() ? operands[n] : 0; };
  switch (op) {
    case spv::OpCopyLogical:  // to the same scalars, laid out in another way
    case spv::OpCopyObject: return items_.values(operand(0));
    case spv::OpUndef: return undefined(type);
    case spv::OpCompositeConstruct: {
      Values all;
      const size_t most = types_.scalars(type).size();
      for (const uint32_t id : operands) {
        const Values& part = items_.values(id);
        if (part.size() > most - all.size()) refuse("OpCompositeConstruct: of too many values");
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    case spv::OpCompositeExtract: {
      const Values& all = items_.values(operand(0));
      const Part part = part_at(items_.at(operand(0)).type, operands.subspan(1));
      const auto first = all.begin() + static_cast<int64_t>(part.first);
      return Values(first, first + static_cast<int64_t>(types_.count(part.type)));
    }
    case spv::OpCompositeInsert: {
      const Values& with = items_.values(operand(0));
      Values all = items_.values(operand(1));
      const Part part = part_at(items_.at(operand(1)).type, operands.subspan(2));
      if (with.size() != types_.count(part.type)) refuse("OpCompositeInsert: of another type");
      std::copy(with.begin(), with.end(), all.begin() + static_cast<int64_t>(part.first));
      return all;
    }
    case spv::OpVectorShuffle: return shuffled(type, operands);
    default: return linear_algebra(k_, types_, items_, op, operands);
  }
}

Values Reader::shuffled(Ident type, std::span<const uint32_t> operands) {
  if (operands.size() < 2) refuse("OpVectorShuffle: of too few operands");
  Values all = items_.values(operands[0]);
  const Values& second = items_.values(operands[1]);
  all.insert(all.end(), second.begin(), second.end());
  Values out;
  for (const uint32_t n : operands.subspan(2)) {
    if (n == UINT32_MAX) {  // any value
      out.push_back(undefined(types_.element(type))[0]);
    } else if (n < all.size()) {
      out.push_back(all[n]);
    } else {
      refuse("OpVectorShuffle: component {} of {}", n, all.size());
    }
  }
  return out;
}

// ---- instructions

/// Whether it is one of memory.
bool Reader::accesses(const Instruction& in) {
  switch (in.op) {
    case spv::OpVariable:
      if (in.operands.size() > 1) count(items_.values(in.at(1)).size());
      define_pointer(in, memory_.variable(in));
      return true;
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
    case spv::OpPtrAccessChain:
    case spv::OpInBoundsPtrAccessChain: define_pointer(in, memory_.access_chain(in)); return true;
    case spv::OpLoad: define(in, memory_.load(in)); return true;
    case spv::OpArrayLength: define(in, memory_.array_length(in)); return true;
    case spv::OpStore:
      count(items_.values(in.at(1)).size());
      memory_.store(in);
      return true;
    default: break;
  }
  const bool atomic = in.op >= spv::OpAtomicLoad && in.op <= spv::OpAtomicXor;
  if (!atomic && in.op != spv::OpAtomicFAddEXT) return false;
  Values old = memory_.atomic(in);
  if (!old.empty()) define(in, std::move(old));
  return true;
}

void Reader::count(size_t more) {
  made_ += more;
  if (std::max(made_, out_.kernel.vals.size()) > kMostMade) {
    refuse("more than {} instructions and values", kMostMade);
  }
}

void Reader::at(const Instruction& in) {
  if (!options_.prov.valid()) k_.set_prov(places_.of(in));
}

void Reader::instruction(const Instruction& in) {
  at(in);
  about(in, [&] { read_instruction(in); });
}

void Reader::read_instruction(const Instruction& in) {
  count(1);
  if (accesses(in) || barrier_or_fence(k_, items_, in)) return;
  if (in.op == spv::OpFunctionCall) return call(in);
  if (auto together = subgroup_operation(k_, types_, items_, in)) {
    return items_.define(in.result, std::move(*together));
  }
  if (in.result == 0) refuse("{} is not read", name_of(in.op));
  define(in, value(in.op, in.type, in.operands));
}

void Reader::call(const Instruction& in) {
  const Deeper deeper(*this);
  const auto found = module_.functions.find(in.at(0));
  if (found == module_.functions.end()) refuse("OpFunctionCall: %{} is no function", in.at(0));
  const Function& f = found->second;
  if (f.params.size() + 1 != in.operands.size()) {
    refuse("OpFunctionCall: {} arguments for {}", in.operands.size() - 1, f.params.size());
  }
  std::vector<Item> args;
  for (const uint32_t id : in.operands.subspan(1)) {
    const Item& arg = items_.at(id);
    count(arg.place ? arg.place->vars.size() : arg.scalars.size());
    args.push_back(arg);
  }
  items_.enter();
  places_.enter(in);
  for (size_t n = 0; n < args.size(); n++) items_.define(f.params[n], std::move(args[n]));
  Values result = read_body(*this, f);
  places_.leave();
  items_.leave();
  if (types_.at(in.type).kind != TypeInfo::kVoid) define(in, std::move(result));
}

// ---- all

Result<ReadKernel> read(std::span<const uint32_t> words, const ReadOptions& options) {
  try {
    const Module module = parse(words, options.entry);
    ReadKernel read = Reader(words, module, options).run();
    if (const Status valid = kir::validate(read.kernel); !valid) {
      return bad_request(
          fmt::format("{} cannot be read as a kernel: {}", options.name, valid.error().message));
    }
    return read;
  } catch (const Refused& refused) {
    return bad_request(
        fmt::format("{} cannot be read as a kernel: {}", options.name, refused.text));
  }
}

}  // namespace kenaz::spirv

// Loads, stores and atomics.
#include <fmt/format.h>

#include "kernels/glsl/print_block.h"
#include "kernels/glsl/types.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

/// Memory holds bools as bytes, a thread's own arrays hold them as they are.
std::string from_memory(Type t, const std::string& place) {
  if (t.prim != PrimType::kBool) return place;
  return t.lanes == 1
             ? fmt::format("{} != uint8_t(0)", place)
             : fmt::format("notEqual({}, {}(0))", place, glsl_type({PrimType::kU8, t.lanes}));
}

std::string to_memory(Type t, const std::string& value) {
  if (t.prim != PrimType::kBool) return value;
  return fmt::format("{}({})", glsl_type({PrimType::kU8, t.lanes}), value);
}

const char* atomic_function(AtomicOp op) {
  switch (op) {
    case AtomicOp::kLoad: return "atomicLoad";
    case AtomicOp::kStore: return "atomicStore";
    case AtomicOp::kExchange: return "atomicExchange";
    case AtomicOp::kCas: return "atomicCompSwap";
    case AtomicOp::kAdd: return "atomicAdd";
    case AtomicOp::kMin: return "atomicMin";
    case AtomicOp::kMax: return "atomicMax";
    case AtomicOp::kAnd: return "atomicAnd";
    case AtomicOp::kOr: return "atomicOr";
    case AtomicOp::kXor: return "atomicXor";
  }
  UNREACHABLE("atomic operation");
}

/// What a load can do of the order, and what a store can.
AtomicOrder order_of(AtomicOp op, AtomicOrder order) {
  const bool acquires = order == AtomicOrder::kAcquire || order == AtomicOrder::kAcquireRelease;
  const bool releases = order == AtomicOrder::kRelease || order == AtomicOrder::kAcquireRelease;
  if (op == AtomicOp::kLoad) return acquires ? AtomicOrder::kAcquire : AtomicOrder::kRelaxed;
  if (op == AtomicOp::kStore) return releases ? AtomicOrder::kRelease : AtomicOrder::kRelaxed;
  return order;
}

/// The storage that is ordered, and how.
std::string semantics(AtomicOrder order) {
  const char* all = "gl_StorageSemanticsBuffer | gl_StorageSemanticsShared";
  switch (order) {
    case AtomicOrder::kRelaxed: return "0, gl_SemanticsRelaxed";
    case AtomicOrder::kAcquire: return fmt::format("{}, gl_SemanticsAcquire", all);
    case AtomicOrder::kRelease: return fmt::format("{}, gl_SemanticsRelease", all);
    case AtomicOrder::kAcquireRelease: return fmt::format("{}, gl_SemanticsAcquireRelease", all);
  }
  UNREACHABLE("order of an atomic");
}

}  // namespace

// ---- places

std::string BlockPrinter::device_place(const Value& base, const Value& index, Type memory,
                                       bool coherent) {
  std::string address;
  std::set<uint32_t> reads;
  const int size = prim_size(memory.prim);
  if (index.is_int(0)) {
    address = names_.take(base).text;
  } else if (index.is_const()) {
    const uint64_t offset = static_cast<uint64_t>(index.constant().as_i64()) * size;
    address = fmt::format("{} + {}ul", names_.operand(base, reads), offset);
  } else {
    address = names_.operand(base, reads);
    std::string i = names_.take(index).text;
    if (index.type.prim == PrimType::kI32) i = fmt::format("int64_t({})", i);
    address += fmt::format(" + uint64_t({})", i);
    if (size > 1) address += fmt::format(" * {}ul", size);
  }
  return fmt::format("{}({}).v", c_.head.reference(memory, coherent), address);
}

/// The elements of a shared or local array that a vector of `lanes` lies in.
std::vector<std::string> BlockPrinter::array_places(const Address& a, int lanes) {
  const auto* shared = std::get_if<SharedId>(&a.base);
  const std::string& array =
      shared != nullptr ? c_.shared[shared->index] : c_.locals[std::get<LocalId>(a.base).index];
  std::vector<std::string> places;
  if (a.index.is_const()) {
    for (int k = 0; k < lanes; k++) {
      places.push_back(fmt::format("{}[{}]", array, a.index.constant().as_i64() + k));
    }
    return places;
  }
  std::string index = lanes == 1 ? names_.take(a.index).text : names_.stable(a.index);
  if (a.index.type.prim != PrimType::kI32) index = fmt::format("int({})", index);
  places.push_back(fmt::format("{}[{}]", array, index));
  for (int k = 1; k < lanes; k++) places.push_back(fmt::format("{}[{} + {}]", array, index, k));
  return places;
}

bool BlockPrinter::is_local(const Address& a) const {
  return std::holds_alternative<LocalId>(a.base);
}

bool BlockPrinter::holds_vectors(const Address& a) const {
  const auto* shared = std::get_if<SharedId>(&a.base);
  return shared != nullptr && c_.kernel.shared[shared->index].lanes > 1;
}

void BlockPrinter::guarded(const std::string& statement) {
  out_.line((may_have_stopped_ ? "if (going) " : "") + statement);
}

void BlockPrinter::guarded_value(ValId dst, Type type, const std::string& value) {
  if (!may_have_stopped_) {
    names_.bind(dst, names_.local(type, value));
    return;
  }
  std::string zero = literal({type.prim, 0});
  if (type.lanes > 1) zero = fmt::format("{}({})", glsl_type(type), zero);
  const std::string name = names_.local(type, zero);
  out_.line(fmt::format("if (going) {} = {};", name, value));
  names_.bind(dst, name);
}

// ---- instructions

void BlockPrinter::print(const ILoad& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  if (const auto* base = std::get_if<Value>(&i.from.base)) {
    const Type memory{memory_type(i.type.prim), i.type.lanes};
    const std::string place =
        device_place(*base, i.from.index, memory, i.order == Order::kCoherent);
    guarded_value(i.dst, i.type, from_memory(i.type, place));
    return;
  }
  if (holds_vectors(i.from)) {
    guarded_value(i.dst, i.type, from_memory(i.type, array_places(i.from, 1)[0]));
    return;
  }
  std::string value;
  for (const std::string& place : array_places(i.from, i.type.lanes)) {
    value += (value.empty() ? "" : ", ") +
             (is_local(i.from) ? place : from_memory({i.type.prim}, place));
  }
  if (i.type.lanes > 1) value = fmt::format("{}({})", glsl_type(i.type), value);
  guarded_value(i.dst, i.type, value);
}

void BlockPrinter::print(const IStore& i) {
  const Type t = i.value.type;
  if (const auto* base = std::get_if<Value>(&i.to.base)) {
    const std::string place = device_place(*base, i.to.index, {memory_type(t.prim), t.lanes},
                                           i.order == Order::kCoherent);
    guarded(fmt::format("{} = {};", place, to_memory(t, names_.take(i.value).text)));
    return;
  }
  if (holds_vectors(i.to)) {
    const std::string place = array_places(i.to, 1)[0];
    guarded(fmt::format("{} = {};", place, to_memory(t, names_.take(i.value).text)));
    return;
  }
  const std::vector<std::string> places = array_places(i.to, t.lanes);
  const std::string value = t.lanes == 1 ? names_.take(i.value).text : names_.stable(i.value);
  for (int k = 0; k < t.lanes; k++) {
    const std::string lane = t.lanes == 1 ? value : fmt::format("{}.{}", value, "xyzw"[k]);
    guarded(fmt::format("{} = {};", places[k], is_local(i.to) ? lane : to_memory({t.prim}, lane)));
  }
}

void BlockPrinter::print(const IAtomic& i) {
  if (is_float(i.type)) {
    c_.head.need_extension("GL_EXT_shader_atomic_float");
  } else if (prim_size(i.type) == 8) {
    c_.head.need_extension("GL_EXT_shader_atomic_int64");
  }
  const bool in_shared = std::holds_alternative<SharedId>(i.at.base);
  const auto* base = std::get_if<Value>(&i.at.base);
  std::string call = fmt::format("{}({}", atomic_function(i.op),
                                 base != nullptr ? device_place(*base, i.at.index, {i.type}, false)
                                                 : array_places(i.at, 1)[0]);
  if (i.op == AtomicOp::kCas) call += ", " + names_.take(i.compare).text;
  if (i.op != AtomicOp::kLoad) call += ", " + names_.take(i.value).text;
  const AtomicOrder order = order_of(i.op, i.order);
  if (order != AtomicOrder::kRelaxed || i.op == AtomicOp::kLoad || i.op == AtomicOp::kStore) {
    c_.head.need_extension("GL_KHR_memory_scope_semantics");
    call += fmt::format(", {}, {}", in_shared ? "gl_ScopeWorkgroup" : "gl_ScopeDevice",
                        semantics(order));
    // Where the comparison fails, nothing is stored.
    if (i.op == AtomicOp::kCas) call += ", " + semantics(order_of(AtomicOp::kLoad, order));
  }
  call += ")";
  if (i.op == AtomicOp::kStore || !i.dst.valid() || c_.facts.uses(i.dst) == 0) {
    guarded(call + ";");
  } else {
    guarded_value(i.dst, {i.type}, call);
  }
}

}  // namespace kenaz::glsl

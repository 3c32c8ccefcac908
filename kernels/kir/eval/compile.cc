#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "kernels/kir/eval/code.h"
#include "protocol/base/check.h"

namespace kenaz::kir::eval {
namespace {

/// Arrays start at multiples of this, as blocks of device memory do.
constexpr uint64_t kArrayAlign = 256;
/// Threads' numbers are kept in 16 bits (races.h).
constexpr int64_t kMaxGroupSize = 1 << 15;
/// Of all shared arrays, or of all local arrays: more than any device has, and no more than what
/// can be allocated.
constexpr uint64_t kMaxArrayBytes = 1 << 24;

class Compiler {
 public:
  explicit Compiler(const Kernel& kernel) : kernel_(kernel) {
    out_.bits.resize(kFirstFreeSlot);
    out_.known.assign(kFirstFreeSlot, 0xff);
    for (const Type& t : kernel.vals) vals_.push_back(new_slots(t.lanes));
    for (const Type& t : kernel.vars) vars_.push_back(new_slots(t.lanes));
  }

  void preset(ValId val, PrimValue v) {
    out_.bits[vals_[val.index]] = v.bits;
    out_.known[vals_[val.index]] = 0xff;
  }

  Status arrays(std::span<const PrimValue> specs);
  void code();
  Code take() { return std::move(out_); }

 private:
  Slot new_slots(int n) {
    const auto first = static_cast<Slot>(out_.bits.size());
    out_.bits.resize(first + n);
    out_.known.resize(first + n);
    return first;
  }
  Slot constant(uint64_t bits);
  Slot slot(const Value& v) {
    return v.is_const() ? constant(v.constant().bits) : vals_[v.id().index];
  }
  Slot result(ValId v) { return v.valid() ? vals_[v.index] : kScratchSlot; }
  uint32_t here() const { return static_cast<uint32_t>(out_.ops.size()); }
  uint32_t list(std::vector<Slot> slots) {
    out_.lists.push_back(std::move(slots));
    return static_cast<uint32_t>(out_.lists.size() - 1);
  }
  Op& emit(OpCode code) {
    Op& op = out_.ops.emplace_back();
    op.code = code;
    op.inst = inst_;
    return op;
  }
  void move(Slot dst, Slot from, int lanes) {
    for (Slot k = 0; k < static_cast<Slot>(lanes); k++) {
      Op& op = emit(OpCode::kMove);
      op.dst = dst + k;
      op.a = from + k;
    }
  }
  void address(Op& op, const Address& at, PrimType type);
  void block(const Block& b);
  /// What `build` emits is inside of the current instruction.
  Control& inside(const auto& build) {
    out_.controls.push_back({inst_, {}, control_});
    const auto number = static_cast<uint32_t>(out_.controls.size());
    const uint32_t outer = std::exchange(control_, number);
    build();
    control_ = outer;
    return out_.controls[number - 1];
  }
  bool meets(uint32_t from) const;

  void put(const IPrim&);
  void put(const IBuiltin&);
  void put(const ICompose&);
  void put(const IExtract&);
  void put(const ILoad&);
  void put(const IStore&);
  void put(const IAtomic&);
  void put(const ISubgroup&);
  void put(const IBarrier&) { meeting(OpCode::kBarrier); }
  void put(const IFence&) {
    emit(OpCode::kFence);
    out_.releases = true;
  }
  void put(const IDeclare&);
  void put(const IRead&);
  void put(const IAssign&);
  void put(const IIf&);
  void put(const IFor&);
  void put(const IWhile&);
  void put(const ICall&);
  void put(const IFail&);
  void put(const IStop&) { emit(OpCode::kStop); }
  Op& meeting(OpCode code) {
    Op& op = emit(code);
    op.list = list(loops_);
    op.control = control_;
    return op;
  }

  const Kernel& kernel_;
  Code out_;
  std::vector<Slot> vals_, vars_;
  std::map<uint64_t, Slot> constants_;
  std::vector<uint32_t> starts_;  // of functions
  std::vector<Slot> returns_;     // of functions: where the place behind the call is kept
  std::vector<Slot> loops_;       // around the current instruction: their counters
  uint32_t control_ = 0;          // as Op::control
  const Inst* inst_ = nullptr;
};

Slot Compiler::constant(uint64_t bits) {
  if (bits == 0) return kZeroSlot;
  auto [it, is_new] = constants_.try_emplace(bits);
  if (is_new) {
    it->second = new_slots(1);
    out_.bits[it->second] = bits;
    out_.known[it->second] = 0xff;
  }
  return it->second;
}

Status Compiler::arrays(std::span<const PrimValue> specs) {
  auto size = [&](const StaticSize& s) {
    return s.spec < 0 ? int64_t{s.constant} : s.constant * specs[s.spec].as_i64();
  };
  out_.group_size = size(kernel_.group_size);
  if (out_.group_size < 1 || out_.group_size > kMaxGroupSize) {
    return bad_request(
        fmt::format("kernel {}: {} threads in a workgroup", kernel_.name, out_.group_size));
  }
  auto place = [](std::vector<ArrayPlace>& list, uint64_t& total, int64_t n, PrimType type) {
    if (n < 0 || n > static_cast<int64_t>(kMaxArrayBytes)) return false;
    const uint64_t bytes = static_cast<uint64_t>(n) * static_cast<uint64_t>(prim_size(type));
    list.push_back({total, bytes});
    total += (bytes + kArrayAlign - 1) / kArrayAlign * kArrayAlign;
    return total <= kMaxArrayBytes;
  };
  auto misplaced = [&](const std::string& name, int64_t n) {
    return bad_request(fmt::format("kernel {}: array {} of {} elements", kernel_.name, name, n));
  };
  for (const SharedArray& a : kernel_.shared) {
    const int64_t n = size(a.length);
    if (!place(out_.shared, out_.shared_bytes, n * a.lanes, a.type)) return misplaced(a.name, n);
  }
  for (const LocalArray& a : kernel_.locals) {
    if (!place(out_.locals, out_.local_bytes, a.length, a.type)) return misplaced(a.name, a.length);
  }
  return {};
}

void Compiler::code() {
  for (const Function& f : kernel_.functions) {
    starts_.push_back(here());
    returns_.push_back(new_slots(1));
    out_.turn.push_back(returns_.back());
    block(f.body);
    inst_ = nullptr;
    emit(OpCode::kReturn).a = returns_.back();
  }
  out_.start = here();
  block(kernel_.main);
  inst_ = nullptr;
  emit(OpCode::kEnd);
}

void Compiler::block(const Block& b) {
  for (const Inst& inst : b.insts) {
    const Inst* outer = std::exchange(inst_, &inst);
    std::visit([&](const auto& op) { put(op); }, inst.op);
    inst_ = outer;
  }
}

bool Compiler::meets(uint32_t from) const {
  return std::any_of(out_.ops.begin() + from, out_.ops.end(), [](const Op& op) {
    return op.code == OpCode::kBarrier || op.code == OpCode::kSubgroup;
  });
}

// ---- values

namespace {
/// The interpreter computes all forms in whole, so that it may take for usual what it likes: here
/// numbers that are not far from 1.
bool is_usual(uint64_t bits) {
  const uint64_t exponent = (bits >> 23) & 255;
  return (bits << 33) == 0 || (exponent >= 67 && exponent <= 187);
}
uint64_t are_usual(uint64_t a, uint64_t b, uint64_t) { return is_usual(a) && is_usual(b) ? 1 : 0; }
void are_usual_in_lanes(uint64_t* dst, const uint64_t* a, const uint64_t* b, const uint64_t*,
                        size_t n) {
  for (size_t k = 0; k < n; k++) dst[k] = are_usual(a[k], b[k], 0);
}
}  // namespace

void Compiler::put(const IPrim& e) {
  const int arity = scalar_op_arity(e.op);
  CHECK(static_cast<int>(e.args.size()) == arity);
  std::vector<Slot> args(3, kZeroSlot);
  for (int k = 0; k < arity; k++) args[k] = slot(e.args[k]);
  Op& op = emit(e.op == ScalarOp::kSelect ? OpCode::kSelect
                : arity == 1              ? OpCode::kPrim1
                : arity == 2              ? OpCode::kPrim2
                                          : OpCode::kPrim3);
  op.dst = result(e.dst);
  op.a = args[0], op.b = args[1], op.c = args[2];
  op.fn = scalar_fn(e.op, e.type, e.to);
  op.lane_fn = lane_fn(e.op, e.type, e.to);
  if (e.form == Form::kIsUsual) {
    op.fn = are_usual;
    op.lane_fn = are_usual_in_lanes;
  }
}

void Compiler::put(const IBuiltin& e) {
  out_.uses_subgroups |= e.kind >= BuiltinKind::kLane;
  vals_[e.dst.index] = static_cast<Slot>(e.kind);
}
void Compiler::put(const ICompose& e) {
  for (size_t k = 0; k < e.lanes.size(); k++) {
    move(result(e.dst) + static_cast<Slot>(k), slot(e.lanes[k]), 1);
  }
}
void Compiler::put(const IExtract& e) {
  vals_[e.dst.index] = slot(e.vector) + static_cast<Slot>(e.lane);
}

void Compiler::put(const IDeclare& e) {
  const Type type = kernel_.vars[e.var.index];
  if (e.init) return move(vars_[e.var.index], slot(*e.init), type.lanes);
  Op& op = emit(OpCode::kForget);
  op.dst = vars_[e.var.index];
  op.lanes = type.lanes;
}
void Compiler::put(const IRead& e) {
  move(result(e.dst), vars_[e.var.index], kernel_.vars[e.var.index].lanes);
}
void Compiler::put(const IAssign& e) {
  move(vars_[e.var.index], slot(e.value), kernel_.vars[e.var.index].lanes);
}

// ---- memory

void Compiler::address(Op& op, const Address& at, PrimType type) {
  op.bytes = static_cast<uint8_t>(prim_size(type));
  op.wide_index = prim_size(at.index.type.prim) == 8;
  op.b = slot(at.index);
  if (const auto* base = std::get_if<Value>(&at.base)) {
    op.a = slot(*base);
  } else if (const auto* shared = std::get_if<SharedId>(&at.base)) {
    op.space = Space::kShared;
    op.array = shared->index;
    op.unit = kernel_.shared[shared->index].lanes;
  } else {
    op.space = Space::kLocal;
    op.array = std::get<LocalId>(at.base).index;
  }
  op.is_access = op.space != Space::kLocal;
}

void Compiler::put(const ILoad& e) {
  Op op{.code = OpCode::kLoad, .lanes = e.type.lanes, .coherent = e.order == Order::kCoherent};
  op.inst = inst_;
  op.dst = result(e.dst);
  address(op, e.from, e.type.prim);
  out_.ops.push_back(op);
}
void Compiler::put(const IStore& e) {
  Op op{
      .code = OpCode::kStore, .lanes = e.value.type.lanes, .coherent = e.order == Order::kCoherent};
  op.inst = inst_;
  op.c = slot(e.value);
  address(op, e.to, e.value.type.prim);
  out_.ops.push_back(op);
}
void Compiler::put(const IAtomic& e) {
  Op op{.code = OpCode::kAtomic, .coherent = true};
  op.inst = inst_;
  op.dst = result(e.dst);
  op.c = slot(e.value);
  op.d = slot(e.compare);
  constexpr ScalarOp kCombine[] = {ScalarOp::kAdd, ScalarOp::kMin, ScalarOp::kMax,
                                   ScalarOp::kAnd, ScalarOp::kOr,  ScalarOp::kXor};
  const int number = static_cast<int>(e.op) - static_cast<int>(AtomicOp::kAdd);
  if (number >= 0) op.fn = scalar_fn(kCombine[number], e.type, e.type);
  address(op, e.at, e.type);
  out_.releases |= e.order >= AtomicOrder::kRelease;
  out_.ops.push_back(op);
}

void Compiler::put(const ISubgroup& e) {
  out_.uses_subgroups = true;
  const Slot value = slot(e.value), arg = slot(e.arg);
  Op& op = meeting(OpCode::kSubgroup);
  op.dst = result(e.dst);
  op.a = value;
  op.b = arg;
  if (e.op <= SubgroupOp::kExclusive) {
    op.fn = scalar_fn(e.combine, e.value.type.prim, e.value.type.prim);
  }
}

// ---- control

void Compiler::put(const IIf& e) {
  const uint32_t branch = here();
  const Slot cond = slot(e.cond);
  emit(OpCode::kBranch).a = cond;
  inside([&] {
    block(e.then_block);
    const uint32_t jump = here();
    const bool has_else = !e.else_block.insts.empty();
    if (has_else) emit(OpCode::kJump);
    out_.ops[branch].target = here();
    block(e.else_block);
    if (has_else) out_.ops[jump].target = here();
  }).deciding = {cond};
  out_.ops[branch].meets = meets(branch);
}

void Compiler::put(const IFor& e) {
  Op op{.code = OpCode::kFor, .uniform = e.uniform};
  op.inst = inst_;
  op.dst = result(e.index);
  op.a = slot(e.from), op.b = slot(e.to), op.c = slot(e.step);
  op.iterations = new_slots(1);
  out_.turn.push_back(op.iterations);
  const PrimType type = e.from.type.prim;
  op.fn = scalar_fn(ScalarOp::kLt, type, type);
  op.step = scalar_fn(ScalarOp::kAdd, type, type);
  op.lane_fn = lane_fn(ScalarOp::kLt, type, type);
  op.lane_step = lane_fn(ScalarOp::kAdd, type, type);
  const uint32_t enter = here();
  out_.ops.push_back(op);
  loops_.push_back(op.iterations);
  inside([&] { block(e.body); }).deciding = {op.a, op.b, op.c};
  loops_.pop_back();
  op.code = OpCode::kForNext;
  op.target = enter + 1;
  out_.ops.push_back(op);
  out_.ops[enter].target = here();
}

void Compiler::put(const IWhile& e) {
  Op op{.code = OpCode::kWhile, .uniform = e.uniform};
  op.inst = inst_;
  op.iterations = new_slots(1);
  out_.turn.push_back(op.iterations);
  move(op.iterations, kZeroSlot, 1);
  const uint32_t head = here();
  loops_.push_back(op.iterations);
  uint32_t test = 0;
  inside([&] {
    block(e.head);
    op.a = slot(e.cond);
    test = here();
    out_.ops.push_back(op);
    block(e.body);
  }).deciding = {op.a};
  loops_.pop_back();
  op.code = OpCode::kWhileNext;
  op.target = head;
  out_.ops.push_back(op);
  out_.ops[test].target = here();
}

void Compiler::put(const ICall& e) {
  const Function& f = kernel_.functions[e.function.index];
  for (size_t k = 0; k < e.args.size(); k++) {
    move(vals_[f.params[k].index], slot(e.args[k]), e.args[k].type.lanes);
  }
  Op& op = emit(OpCode::kCall);
  op.dst = returns_[e.function.index];
  op.target = starts_[e.function.index];
  for (size_t k = 0; k < e.dsts.size(); k++) {
    move(result(e.dsts[k]), slot(f.results[k]), f.results[k].type.lanes);
  }
}

void Compiler::put(const IFail& e) {
  std::vector<Slot> args;
  for (const Value& a : e.args) args.push_back(slot(a));
  emit(OpCode::kFail).list = list(std::move(args));
}

}  // namespace

Result<Code> compile(const Kernel& kernel, std::span<const PrimValue> args,
                     std::span<const PrimValue> specs) {
  auto mismatch = [&](const std::string& name, const char* what) {
    return bad_request(
        fmt::format("kernel {}: {} {} is missing or has another type", kernel.name, what, name));
  };
  Compiler compiler(kernel);
  for (size_t k = 0; k < kernel.args.size(); k++) {
    const Arg& a = kernel.args[k];
    if (args.size() != kernel.args.size() || args[k].type != kernel.vals[a.val.index].prim) {
      return mismatch(a.name, "argument");
    }
    compiler.preset(a.val, args[k]);
  }
  std::vector<PrimValue> values;
  for (size_t k = 0; k < kernel.specs.size(); k++) {
    const Spec& s = kernel.specs[k];
    values.push_back(specs.empty() ? s.fallback : specs[std::min(k, specs.size() - 1)]);
    const bool fits = specs.empty() || specs.size() == kernel.specs.size();
    if (!fits || values[k].type != s.fallback.type) return mismatch(s.name, "constant");
    compiler.preset(s.val, values[k]);
  }
  KENAZ_TRY(compiler.arrays(values));
  compiler.code();
  return compiler.take();
}

}  // namespace kenaz::kir::eval

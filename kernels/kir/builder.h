// Building kernel IR so that the code that builds it reads like the kernel. A Builder appends to
// one block of one kernel; blocks inside are given as functions that build them. Scalar operations
// on constants are folded on the way, and so are those that do nothing (identities.h); an operation
// whose value is there already, in this block or one around it, is not repeated. So equal addresses
// are equal Values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

using Values = std::vector<Value>;

/// A variable with its type.
struct Var {
  Type type;
  VarId id;
};
using Vars = std::vector<Var>;

class Builder {
 public:
  using Do = std::function<void()>;

  /// Appends to kernel.main. `kernel` must outlive the builder.
  explicit Builder(Kernel& kernel) : kernel_(kernel), block_(&kernel.main) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Kernel& kernel() { return kernel_; }
  /// Provenance of what follows.
  void set_prov(ir::ProvId p) { prov_ = p; }
  ir::ProvId prov() const { return prov_; }
  /// Appends any instruction.
  void emit(decltype(Inst::op) op);
  /// Appends to `block`, which the caller puts into an instruction of the current block later.
  void into(Block& block, const Do& build);

  // ---- the kernel's tables
  Value arg(const std::string& name, PrimType type);
  Value block_arg(const std::string& name);  // its address, u64
  Value spec(const std::string& name, PrimValue fallback);
  SharedId shared(const std::string& name, PrimType type, StaticSize length, int lanes = 1);
  /// u32s in shared memory that only count threads, see SharedArray::counts_threads.
  SharedId thread_counts(const std::string& name, int length);
  LocalId local_array(const std::string& name, PrimType type, int32_t length);

  // ---- scalars. Binary operations take operands of one type.
  Value op(ScalarOp op, PrimType type, PrimType to, Values args);
  Value prim(ScalarOp op, Values args);        // type: that of the last operand; result: no kTo
  Value convert(const Value& a, PrimType to);  // nothing if it has that type
  Value bitcast(const Value& a, PrimType to);
  Value add(Value a, Value b) { return prim(ScalarOp::kAdd, {a, b}); }
  Value sub(Value a, Value b) { return prim(ScalarOp::kSub, {a, b}); }
  Value mul(Value a, Value b) { return prim(ScalarOp::kMul, {a, b}); }
  Value quot(Value a, Value b) { return prim(ScalarOp::kQuot, {a, b}); }
  Value rem(Value a, Value b) { return prim(ScalarOp::kRem, {a, b}); }
  Value min(Value a, Value b) { return prim(ScalarOp::kMin, {a, b}); }
  Value max(Value a, Value b) { return prim(ScalarOp::kMax, {a, b}); }
  Value and_(Value a, Value b) { return prim(ScalarOp::kAnd, {a, b}); }
  Value or_(Value a, Value b) { return prim(ScalarOp::kOr, {a, b}); }
  Value xor_(Value a, Value b) { return prim(ScalarOp::kXor, {a, b}); }
  Value shl(Value a, Value b) { return prim(ScalarOp::kShl, {a, b}); }
  Value lshr(Value a, Value b) { return prim(ScalarOp::kLShr, {a, b}); }
  Value eq(Value a, Value b) { return prim(ScalarOp::kEq, {a, b}); }
  Value ne(Value a, Value b) { return prim(ScalarOp::kNe, {a, b}); }
  Value lt(Value a, Value b) { return prim(ScalarOp::kLt, {a, b}); }
  Value le(Value a, Value b) { return prim(ScalarOp::kLe, {a, b}); }
  Value not_(Value a) { return prim(ScalarOp::kNot, {a}); }
  Value select(Value cond, Value a, Value b) { return prim(ScalarOp::kSelect, {cond, a, b}); }
  /// Constants of the same type as `like`.
  static Value same_type(Value like, int64_t n) { return PrimValue::of_int(like.type.prim, n); }
  /// a + n, a * n, a < n, .. with a constant of a's type.
  Value add(Value a, int64_t n) { return add(a, same_type(a, n)); }
  Value sub(Value a, int64_t n) { return sub(a, same_type(a, n)); }
  Value mul(Value a, int64_t n) { return mul(a, same_type(a, n)); }
  Value lt(Value a, int64_t n) { return lt(a, same_type(a, n)); }
  Value eq(Value a, int64_t n) { return eq(a, same_type(a, n)); }
  /// (a + b - 1) / b, of non-negative integers.
  Value div_up(Value a, Value b);
  Value to_i64(Value a) { return convert(a, PrimType::kI64); }
  Value to_i32(Value a) { return convert(a, PrimType::kI32); }

  // ---- vectors
  Value compose(Values lanes);  // 1 (nothing to do), 2 or 4
  Value extract(Value vector, int lane);

  // ---- what a thread knows of itself. Read once per block that needs it.
  Value builtin(BuiltinKind kind);
  Value group() { return builtin(BuiltinKind::kGroup); }
  Value groups() { return builtin(BuiltinKind::kGroups); }
  Value local() { return builtin(BuiltinKind::kLocal); }
  Value group_size() { return builtin(BuiltinKind::kGroupSize); }
  Value lane() { return builtin(BuiltinKind::kLane); }
  Value subgroup() { return builtin(BuiltinKind::kSubgroup); }
  Value subgroups() { return builtin(BuiltinKind::kSubgroups); }
  Value subgroup_size() { return builtin(BuiltinKind::kSubgroupSize); }
  /// group * group_size + local, and groups * group_size; i64.
  Value global();
  Value threads();

  // ---- memory
  Value load(Type type, Address from, Order order = Order::kPlain);
  Value load(PrimType type, Value base, Value index) { return load({type, 1}, {base, index}); }
  Value load(SharedId array, Value index);
  Value load(LocalId array, Value index);
  void store(Address to, Value value, Order order = Order::kPlain);
  void store(Value base, Value index, Value value) { store(Address{base, index}, value); }
  void store(SharedId array, Value index, Value value) { store(Address{array, index}, value); }
  void store(LocalId array, Value index, Value value) { store(Address{array, index}, value); }
  /// Gives the old value; kStore gives nothing worth using.
  Value atomic(AtomicOp op, PrimType type, Address at, Value value = {},
               AtomicOrder order = AtomicOrder::kRelaxed);
  Value compare_and_swap(PrimType type, Address at, Value compare, Value value,
                         AtomicOrder order = AtomicOrder::kRelaxed);

  // ---- threads together
  Value subgroup_combine(SubgroupOp op, ScalarOp combine, Value value);
  Value shuffle(SubgroupOp op, Value value, Value arg);
  Value vote(SubgroupOp op, Value value);  // kCount, kRank, kAny, kAll
  Value ballot(Value value, int word);
  void barrier() { emit(IBarrier{}); }
  void fence(Scope scope) { emit(IFence{scope}); }

  // ---- variables
  Var declare(Type type);
  Var declare(Value init);
  Value read(const Var& var);
  void assign(const Var& var, Value value);
  Vars declare(const Values& inits);
  Values read(const Vars& vars);
  /// All at once: the values were computed before.
  void assign(const Vars& vars, const Values& values);

  // ---- control
  void if_(Value cond, const Do& then_do, const Do& else_do = {});
  /// Results of the branch taken, by variables; both must give as many of the same types.
  Values if_values(Value cond, const std::function<Values()>& then_do,
                   const std::function<Values()>& else_do);
  void for_(Value from, Value to, Value step, const std::function<void(Value)>& body,
            bool uniform = false, bool unroll = false);
  /// From 0 by 1.
  void for_(Value to, const std::function<void(Value)>& body, bool uniform = false) {
    for_(same_type(to, 0), to, same_type(to, 1), body, uniform);
  }
  /// `body` once for 0, 1, .., n - 1: unrolled while building.
  void repeat(int n, const std::function<void(int)>& body);
  void while_(const std::function<Value()>& cond, const Do& body, bool uniform = false);
  void fail(int number, Values args) { emit(IFail{number, std::move(args)}); }
  void stop() { emit(IStop{}); }

  // ---- functions. Built while the caller's block waits.
  FunctionId function(const std::string& name, const std::vector<Type>& params,
                      const std::function<Values(const Values&)>& body);
  Values call(FunctionId function, Values args);

 private:
  /// What a value is computed from, as numbers; equal only if the values are.
  using Computation = std::vector<uint64_t>;
  static Computation computation(ScalarOp op, PrimType type, PrimType to, const Values& args);
  std::optional<Value> known(const Computation& c) const;
  /// The result, if it follows from values that are visible here with less effort: a remainder of
  /// its quotient, (a - b) + b, a * (b * 4) of a * b, (a - b) * 4 + b * 4. So the place of an
  /// element in a dense array is that of the thread, and nothing is divided.
  std::optional<Value> from_known(ScalarOp op, PrimType type, const Values& args);
  /// The value and the constant whose product of integers `v` is.
  std::optional<std::pair<Value, Value>> multiple(const Value& v) const;
  Value define(Type type, const std::function<decltype(Inst::op)(ValId)>& make);

  Kernel& kernel_;
  Block* block_;
  ir::ProvId prov_;
  /// Values of builtins and scalar operations that are visible here, by block.
  std::vector<std::map<Computation, Value>> known_{1};
  /// The operands of differences of integers, by their results.
  std::map<uint32_t, Values> differences_;
  /// .. and of products with a constant, the constant second.
  std::map<uint32_t, std::pair<Value, Value>> multiples_;
};

}  // namespace kenaz::kir

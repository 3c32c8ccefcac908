// Kernel IR: one kernel of the device, typed and small. Code generation makes it (builder.h), an
// interpreter runs it on the CPU (eval/), GLSL is printed from it (kernels/glsl).
//
// Every thread of every workgroup runs `main`. Control flow is structured. There are two kinds of
// names: a value is assigned once, where its instruction stands, and is visible behind it in the
// same block and the blocks inside; a variable is declared (IDeclare), read and assigned. Values of
// arguments and specialisation constants are visible everywhere, in functions too.
//
// Memory. Device memory has no arrays, only addresses (u64): an access goes to `base + index *
// size of the element`. Shared and local arrays are tables of the kernel, accessed by index. A
// bool takes one byte. Addresses come from arguments by arithmetic; an access outside of the block
// that its base points into is an error of code generation.
//
// Failure. A thread goes or it has stopped. IFail and IStop stop it; from then on it runs to its
// end without effect: its loads give 0, its stores, atomics and further failures do nothing, its
// loops end, but for those marked `uniform`. It still takes part in barriers and subgroup
// operations, so these stay uniform. If the call's failure record is set when a kernel starts, all
// its threads have stopped.
//
// Uniformity. A barrier must be reached by all threads of a workgroup, a subgroup operation by all
// threads of a subgroup, in the same turn of all loops around it. Only `uniform` loops and
// conditions that are equal for those threads may stand around them; the interpreter checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/ir/ir.h"
#include "kernels/scalar/ops.h"
#include "protocol/base/ids.h"
#include "protocol/prim_type.h"

namespace kenaz::kir {

using ValId = Id<struct KirValTag>;
using VarId = Id<struct KirVarTag>;
using SharedId = Id<struct KirSharedTag>;
using LocalId = Id<struct KirLocalTag>;
using FunctionId = Id<struct KirFunctionTag>;

/// 1, 2 or 4 lanes. Vectors are loaded, stored, composed and taken apart, and nothing else: the
/// arithmetic is on scalars.
struct Type {
  PrimType prim = PrimType::kI32;
  uint8_t lanes = 1;
  friend bool operator==(const Type&, const Type&) = default;
};
inline int size_of(Type t) { return prim_size(t.prim) * t.lanes; }

/// An operand: a constant scalar or a value. It carries its type, so that nobody has to look it up;
/// the validator compares it with the kernel's table.
struct Value {
  Type type;
  std::variant<PrimValue, ValId> v = PrimValue{};
  Value() = default;
  Value(PrimValue c) : type{c.type, 1}, v(c) {}  // NOLINT: conversions are the point
  Value(Type t, ValId id) : type(t), v(id) {}
  bool is_const() const { return v.index() == 0; }
  const PrimValue& constant() const { return std::get<0>(v); }
  ValId id() const { return std::get<1>(v); }
  /// A constant of any integer type, with this value.
  bool is_int(int64_t n) const {
    return is_const() && is_integer(constant().type) && constant().as_i64() == n;
  }
  bool is_bool(bool b) const { return is_const() && constant() == PrimValue::of_bool(b); }
  friend bool operator==(const Value&, const Value&) = default;
};
inline Value i32(int32_t n) { return PrimValue::i32(n); }
inline Value i64(int64_t n) { return PrimValue::i64(n); }
inline Value boolean(bool b) { return PrimValue::of_bool(b); }

struct Inst;
struct Block {
  std::vector<Inst> insts;
};

// ---- values

/// How much of an operation is computed. Of some, operands at the ends of the exponents and the
/// like need much more code than others (has_usual_form). kUsual: what is right of usual operands,
/// and anything of others. kIsUsual: whether the operands are usual ones, a bool; each device draws
/// the line as it needs to.
enum class Form : uint8_t { kWhole, kUsual, kIsUsual };
bool has_usual_form(ScalarOp op, PrimType type);

/// A scalar operation; as ir::EPrim. `type` is the operands' type, `to` the result's for
/// kConvert and kBitcast.
struct IPrim {
  ValId dst;
  ScalarOp op;
  PrimType type;
  PrimType to = PrimType::kI32;
  std::vector<Value> args;
  Form form = Form::kWhole;
};
inline PrimType result_type(const IPrim& i) {
  return i.form == Form::kIsUsual ? PrimType::kBool : scalar_op_result(i.op, i.type, i.to);
}

enum class BuiltinKind : uint8_t {
  kGroup,         // i64: the workgroup's number, from 0
  kGroups,        // i64: how many workgroups there are
  kLocal,         // i32: the thread's number in its workgroup
  kGroupSize,     // i32
  kLane,          // i32: the thread's number in its subgroup
  kSubgroup,      // i32: the subgroup's number in its workgroup
  kSubgroups,     // i32: how many subgroups a workgroup has
  kSubgroupSize,  // i32
};
/// kLocal == kSubgroup * kSubgroupSize + kLane, and every subgroup is full: a kernel that uses a
/// subgroup's facts is launched with full subgroups only.
struct IBuiltin {
  ValId dst;
  BuiltinKind kind;
};

/// Scalars into a vector, one of whose lanes IExtract gives back.
struct ICompose {
  ValId dst;
  std::vector<Value> lanes;
};
struct IExtract {
  ValId dst;
  Value vector;
  int lane = 0;
};

// ---- memory

/// Where an access goes: device memory at `base` (u64), or an array of the kernel.
struct Address {
  std::variant<Value, SharedId, LocalId> base;
  /// i32 or i64, in elements of the accessed scalar type, also for vectors; in an array of vectors
  /// in those.
  Value index;
};

/// What other threads see, and when. kPlain: threads of the workgroup behind the next barrier,
/// others at the end of the kernel. kCoherent (device memory only): every thread of the device,
/// once they synchronise by atomics with acquire and release, or fences.
enum class Order : uint8_t { kPlain, kCoherent };

/// A vector of n lanes is n neighbours from `index` on; the address must be a multiple of the
/// vector's size.
struct ILoad {
  ValId dst;
  Type type;
  Address from;
  Order order = Order::kPlain;
};
struct IStore {
  Address to;
  Value value;
  Order order = Order::kPlain;
};

enum class AtomicOp : uint8_t { kLoad, kStore, kExchange, kCas, kAdd, kMin, kMax, kAnd, kOr, kXor };
/// kAcquire: what the writer released before is visible behind it. kRelease: what stands before it
/// is visible to whoever acquires. A load cannot release, a store cannot acquire.
enum class AtomicOrder : uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
/// On i32, u32, i64, u64, and kAdd on f32 and f64, in device or shared memory; visible to the whole
/// device or workgroup. `dst`, if valid, is the old value (kLoad: the value). kCas stores `value`
/// if the old value is `compare`.
struct IAtomic {
  ValId dst;
  AtomicOp op;
  PrimType type;
  Address at;
  Value value;    // not for kLoad
  Value compare;  // kCas
  AtomicOrder order = AtomicOrder::kRelaxed;
};

// ---- threads together

enum class SubgroupOp : uint8_t {
  kReduce,       // of `combine` over all lanes
  kInclusive,    // scan
  kExclusive,    // scan; lane 0 gets the operation's neutral element
  kShuffle,      // the value of lane `arg`; a lane that is none: undefined
  kShuffleUp,    // of the lane `arg` below; where there is none: undefined
  kShuffleDown,  // of the lane `arg` above; likewise
  kShuffleXor,   // of the lane `own lane xor arg`
  kBroadcast,    // the value of lane `arg`, the same for all lanes
  kCount,        // i32: how many lanes have true
  kRank,         // i32: how many lanes below have true
  kAny,          // bool
  kAll,          // bool
  kBallot,       // u32: bit i says whether lane 32 * arg + i has true; arg: a constant, 0 to 3
};
/// So many words has a ballot: there are no larger subgroups.
inline constexpr int kBallotWords = 4;
struct ISubgroup {
  ValId dst;
  SubgroupOp op;
  ScalarOp combine = ScalarOp::kAdd;  // kReduce, kInclusive, kExclusive: add mul min max and or xor
  Value value;
  Value arg;  // i32; shuffles, broadcast and kBallot
};

/// All threads of the workgroup meet; what they stored to shared and device memory before is
/// visible to each other behind it.
struct IBarrier {};
enum class Scope : uint8_t { kWorkgroup, kDevice };
/// Orders coherent stores before it and atomics behind it (release), and the other way (acquire).
struct IFence {
  Scope scope = Scope::kDevice;
};

// ---- variables

/// Visible like a value: behind here in the same block and the blocks inside; declared once.
/// Undefined until assigned if there is no `init`.
struct IDeclare {
  VarId var;
  std::optional<Value> init;
};
struct IRead {
  ValId dst;
  VarId var;
};
struct IAssign {
  VarId var;
  Value value;
};

// ---- control

struct IIf {
  Value cond;
  Block then_block, else_block;
};
/// for (index = from; index < to; index += step). `index` is a value of the body, of an integer
/// type, `step` at least 1. `uniform`: all threads of the workgroup make the same turns, stopped
/// or not; else the loop ends when the thread stops, and a thread stops there if it finds that the
/// call has failed elsewhere or that the host has stopped it.
/// `unroll`: a hint.
struct IFor {
  ValId index;
  Value from, to, step;
  Block body;
  bool uniform = false;
  bool unroll = false;
};
/// loop { head; if (!cond) break; body }. `cond` and `body` see what `head` defines. `uniform` as
/// above.
struct IWhile {
  Block head;
  Value cond;
  Block body;
  bool uniform = false;
};
/// Binds the function's results. Functions do not call themselves.
struct ICall {
  std::vector<ValId> dsts;
  FunctionId function;
  std::vector<Value> args;
};
/// Records the failure, if no thread of the call has before, and stops the thread. `number` is
/// that of program::KernelFailure; at most kMaxFailureArgs arguments.
struct IFail {
  int number = 0;
  std::vector<Value> args;
};
/// Stops the thread without a failure.
struct IStop {};

struct Inst {
  std::variant<IPrim, IBuiltin, ICompose, IExtract, ILoad, IStore, IAtomic, ISubgroup, IBarrier,
               IFence, IDeclare, IRead, IAssign, IIf, IFor, IWhile, ICall, IFail, IStop>
      op;
  ir::ProvId prov;  // the statement of the program that it comes from
};

// ---- the kernel

/// Element code and operators. No barriers and subgroup operations inside.
struct Function {
  std::string name;
  std::vector<ValId> params;
  Block body;
  std::vector<Value> results;
};

/// An argument of the launch: a scalar, or the address (u64) of a block.
struct Arg {
  std::string name;
  ValId val;
  bool is_block = false;
};

/// Known when the pipeline is made: tile sizes, items per thread.
struct Spec {
  std::string name;
  ValId val;
  PrimValue fallback;  // i32 or bool
  /// Known before that, where code for the device is made: whether launches are small. Only choices
  /// hang on it.
  bool says_small = false;
};

/// A number that is a constant, or `constant` times a specialisation constant (i32).
struct StaticSize {
  int32_t constant = 1;
  int spec = -1;  // index into Kernel::specs, or -1
};

/// Undefined at the start of a workgroup. With several `lanes` its elements are vectors: they are
/// accessed as a whole, and `length` and the index of an access count vectors. (A device moves such
/// a vector by one instruction; of neighbouring scalars it does not know that it could.)
struct SharedArray {
  std::string name;
  PrimType type;
  StaticSize length;
  uint8_t lanes = 1;
  /// It only counts the threads that have come to a barrier: less than all, and all stop.
  bool counts_threads = false;
};
/// A thread's own array, in registers if the driver can do that. Undefined at the start.
struct LocalArray {
  std::string name;
  PrimType type;
  int32_t length = 0;
};

struct Kernel {
  std::string name;
  std::vector<Arg> args;
  std::vector<Spec> specs;
  std::vector<SharedArray> shared;  // by SharedId
  std::vector<LocalArray> locals;   // by LocalId
  std::vector<Function> functions;  // by FunctionId; calls go to earlier ones
  Block main;
  StaticSize group_size;
  /// Workgroups wait for each other (look-back): the device must let every started one proceed.
  bool needs_progress = false;
  /// What stands in main before the first condition, loop or effect is also run by workgroups
  /// beyond the last, and if the call has failed: it may load where that is harmless for any
  /// workgroup's number. (Drivers for CPUs make one load of a subgroup's threads that is under no
  /// condition.)
  bool reads_ahead = false;
  ir::ProvId prov;  // the statement that the kernel is for

  std::vector<Type> vals;  // by ValId
  std::vector<Type> vars;  // by VarId

  ValId new_val(Type t) {
    vals.push_back(t);
    return ValId{static_cast<uint32_t>(vals.size() - 1)};
  }
  VarId new_var(Type t) {
    vars.push_back(t);
    return VarId{static_cast<uint32_t>(vars.size() - 1)};
  }
};

}  // namespace kenaz::kir

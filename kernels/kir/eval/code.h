// A kernel in the form that the interpreter runs: one flat list of operations on slots. Every
// thread has all slots: the builtins, the constants, one per lane of every value and variable, and
// a counter per loop. Functions do not call themselves, so their values have fixed slots, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kir/kir.h"
#include "kernels/scalar/lanes.h"
#include "protocol/base/result.h"

namespace kenaz::kir::eval {

enum class OpCode : uint8_t {
  kMove,    // dst = a
  kForget,  // dst.. are undefined
  kPrim1,
  kPrim2,
  kPrim3,
  kSelect,
  kLoad,
  kStore,
  kAtomic,
  kSubgroup,
  kBarrier,
  kFence,
  kJump,
  kBranch,     // to `target` unless a
  kFor,        // enters with index `dst` from a to b by c, or goes to `target`, behind the loop
  kForNext,    // likewise, back to `target`, or goes on
  kWhile,      // to `target`, behind the loop, unless a
  kWhileNext,  // to `target`, the loop's head
  kCall,       // to `target`; `dst` gets the place behind
  kReturn,     // to the place in a
  kFail,
  kStop,
  kEnd,
};

enum class Space : uint8_t { kDevice, kShared, kLocal };

using Slot = uint32_t;

struct Op {
  OpCode code = OpCode::kEnd;
  Space space = Space::kDevice;
  uint8_t bytes = 0;        // of a scalar in memory
  uint8_t lanes = 1;        // of the value
  bool coherent = false;    // Order::kCoherent
  bool wide_index = false;  // the index is an i64
  bool uniform = false;     // loops
  bool is_access = false;   // of device or shared memory: another thread may go on behind it
  bool meets = false;       // kBranch: barriers or subgroup operations stand inside
  Slot dst = 0, a = 0, b = 0, c = 0, d = 0;
  // Accesses: a base (device), b index, c value, d what a compare-and-swap compares with.
  uint32_t target = 0;   // an operation
  uint32_t array = 0;    // index into Code::shared or locals
  uint8_t unit = 1;      // scalars that the index counts at a time
  Slot iterations = 0;   // loops: the counter of the finished iterations
  uint32_t list = 0;     // index into Code::lists: arguments of a failure, counters of the loops
                         // around a barrier or subgroup operation
  uint32_t control = 0;  // barriers, subgroup operations: what is around, as Control::around
  ScalarFn fn = nullptr, step = nullptr;
  LaneFn lane_fn = nullptr, lane_step = nullptr;  // the same for many threads; scalars and loops
  const Inst* inst = nullptr;
};

/// A branch or loop that other operations stand in.
struct Control {
  const Inst* inst = nullptr;
  std::vector<Slot> deciding;  // the condition, or a loop's bounds and step
  uint32_t around = 0;         // the one around it: 1 + its index into Code::controls; 0: none
};

/// Where an array of the kernel lies in a workgroup's or a thread's bytes.
struct ArrayPlace {
  uint64_t offset = 0, bytes = 0;
};

/// Slots that every kernel has. The first ones are in the order of BuiltinKind.
inline constexpr Slot kZeroSlot = 8, kScratchSlot = 9, kFirstFreeSlot = 10;

struct Code {
  std::vector<Op> ops;
  uint32_t start = 0;
  std::vector<std::vector<Slot>> lists;
  /// What tells where a thread is, besides its operation: the counters of all loops and the places
  /// behind calls, each 0 unless the thread is in the loop or the function.
  std::vector<Slot> turn;
  std::vector<Control> controls;
  std::vector<ArrayPlace> shared, locals;
  uint64_t shared_bytes = 0, local_bytes = 0;
  int64_t group_size = 0;
  bool uses_subgroups = false;
  bool releases = false;  // it has fences, or atomics that release
  /// A thread's slots at its start; `known` as Thread::known.
  std::vector<uint64_t> bits;
  std::vector<uint8_t> known;
};

/// Fails if arguments or specialisation constants are not those of the kernel, or if a size is not
/// positive. Keeps references to the kernel's instructions.
Result<Code> compile(const Kernel& kernel, std::span<const PrimValue> args,
                     std::span<const PrimValue> specs);

}  // namespace kenaz::kir::eval

// A workgroup that runs: its threads' state and its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/kir/eval/code.h"
#include "kernels/kir/eval/races.h"

namespace kenaz::kir::eval {

/// Where undefined values in memory come from, as Thread::origin, by the place of `known` that
/// belongs to their first byte.
using Origins = std::unordered_map<const uint8_t*, uint32_t>;

/// What a thread waits for, and in which iterations of the loops around it.
struct Meeting {
  uint32_t op = 0;
  std::vector<uint64_t> iterations;
  int waiting = 0;  // how many threads
};

enum class ThreadState : uint8_t { kReady, kAtBarrier, kAtSubgroup, kDone };

/// What a thread has in every slot. Those of all threads of a workgroup lie beside each other, slot
/// by slot, so that one operation can be done for all of them at a time.
template <class T>
class Slots {
 public:
  Slots() = default;
  Slots(T* first, size_t stride) : first_(first), stride_(stride) {}
  T& operator[](Slot s) const { return first_[s * stride_]; }

 private:
  T* first_ = nullptr;
  size_t stride_ = 0;
};

struct Thread {
  Slots<uint64_t> bits;
  Slots<uint8_t> known;  // a bit per byte of the value; 0xff: all are defined
  /// If it is not all defined: 1 + the number of the operation that made it so; 0: none.
  Slots<uint32_t> origin;
  std::byte* local = nullptr;
  uint8_t* local_known = nullptr;  // by byte, as Memory::Block::known
  uint32_t pc = 0;
  ThreadState state = ThreadState::kReady;
  bool stopped = false;
  int32_t late = 0;  // iterations since a failure was recorded
  ThreadClock clock;
  int number() const { return clock.local; }
};

/// Threads that stand at one operation and go on together.
struct Convoy {
  std::vector<uint16_t> lanes;  // ascending
  bool dense = false;           // they are neighbours
  bool goes = false;            // none of them has stopped
  uint32_t pc = 0;
  uint32_t meets = 0;  // the next operation where others stand that are ready
  uint32_t from = 0;   // the next convoy is not to stand before this operation, if it can
  size_t first() const { return lanes.front(); }
  size_t size() const { return lanes.size(); }
};

class Group {
 public:
  Group(const Code& code, int subgroup_size);
  /// The workgroup `number` of `groups` begins; `stopped`: its threads have stopped. For races its
  /// number is counted from `first`.
  void begin(int64_t number, int64_t groups, bool stopped, uint32_t first);

  int64_t number = 0;
  std::vector<Thread> threads;
  std::vector<uint16_t> ready;  // the last one goes on if the seed does not choose
  int done = 0;
  Convoy convoy;
  Meeting barrier;
  std::vector<Meeting> subgroups;
  GroupClock clock;
  std::vector<ThreadClock*> clocks;  // the threads'

  /// Shared memory.
  std::vector<std::byte> data;
  std::vector<uint8_t> known;
  Shadow shadow;
  /// Of undefined values that were stored to shared and local arrays.
  Origins origins;

  /// The slots of all threads in order: what thread 0 has, what thread 1 has, ..
  uint64_t* bits(Slot s) { return bits_.data() + s * stride_; }
  uint8_t* known_of(Slot s) { return slots_known_.data() + s * stride_; }
  uint32_t* origin(Slot s) { return origins_.data() + s * stride_; }

 private:
  const Code& code_;
  int subgroup_size_;
  size_t stride_;
  std::vector<uint64_t> bits_;
  std::vector<uint8_t> slots_known_;
  std::vector<uint32_t> origins_;
  std::vector<std::byte> locals_;
  std::vector<uint8_t> locals_known_;
};

}  // namespace kenaz::kir::eval

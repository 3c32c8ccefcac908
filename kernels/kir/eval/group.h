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

struct Thread {
  uint64_t* bits = nullptr;
  uint8_t* known = nullptr;  // by slot: a bit per byte of the value; 0xff: all are defined
  /// By slot, if it is not all defined: 1 + the number of the operation that made it so; 0: none.
  uint32_t* origin = nullptr;
  std::byte* local = nullptr;
  uint8_t* local_known = nullptr;  // by byte, as Memory::Block::known
  uint32_t pc = 0;
  ThreadState state = ThreadState::kReady;
  bool stopped = false;
  int32_t late = 0;  // iterations since a failure was recorded
  ThreadClock clock;
  int number() const { return clock.local; }
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

 private:
  const Code& code_;
  int subgroup_size_;
  std::vector<uint64_t> bits_;
  std::vector<uint8_t> slots_known_;
  std::vector<uint32_t> origins_;
  std::vector<std::byte> locals_;
  std::vector<uint8_t> locals_known_;
};

}  // namespace kenaz::kir::eval

// Finds accesses that nothing orders. What a thread has synchronised with is a vector clock; every
// few bytes of memory keep who accessed them last.
//
// Within a workgroup barriers count: an access of an earlier epoch, as the time between two
// barriers is called here, is ordered before all of the later ones. Elsewhere an order comes from
// an atomic that releases and another that acquires what it wrote, or from fences: one before an
// atomic that writes and one behind the atomic that read it. The fence may stand on the other side
// of a barrier, in another thread of the workgroup. Between workgroups the write and the read
// must be coherent, too.
//
// What is not seen: of more than two unordered readers, or atomic writers, of one place only two
// are remembered, so that a conflict with a third one shows under another seed at best. Values
// are always the newest ones: a missing order is found as a conflict, never as a wrong result.
// Subgroup operations order nothing; in shared memory atomics and fences order plain accesses, too.
//
// A chain of n workgroups, each of which acquires from the one before, takes memory for n * n
// entries of knowledge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir::eval {

/// What a thread knows to lie behind it. By group: the epoch before which all accesses of the
/// group's threads are known. By thread: the last time at which its accesses are known.
class Knowledge {
 public:
  static uint64_t of_group(uint32_t group) { return uint64_t{group} << 16; }
  static uint64_t of_thread(uint32_t group, uint16_t local) { return of_group(group) + local + 1; }
  /// 0 if it knows nothing of them.
  uint32_t until(uint64_t whom) const;
  void add(uint64_t whom, uint32_t until);

  friend bool covers(const Knowledge& a, const Knowledge& b);
  friend Knowledge join(const Knowledge& a, const Knowledge& b);

 private:
  std::vector<std::pair<uint64_t, uint32_t>> entries_;  // sorted
};
/// Shared by all that know the same; null: nothing.
using KnowledgePtr = std::shared_ptr<const Knowledge>;
KnowledgePtr join(const KnowledgePtr& a, const KnowledgePtr& b);

/// A thread's part of the bookkeeping.
struct ThreadClock {
  uint16_t local = 0;
  uint32_t time = 1;            // moves on when something is released
  uint32_t fence_time = 0;      // of the last fence; 0: none
  uint32_t segment = 0;         // what stamps of plain accesses point to; 0: not made yet
  uint32_t atomic_segment = 0;  // of atomics; likewise
  KnowledgePtr known;
  KnowledgePtr pending;  // read by relaxed atomics: known behind the next fence
  KnowledgePtr device;   // released by a fence of device scope,
  KnowledgePtr group;    // of any scope
};

/// What atomics at one address have released.
struct Released {
  KnowledgePtr device;  // to everybody
  KnowledgePtr group;   // to the workgroup `number`
  uint32_t number = 0;
};
using ReleasedAt = std::unordered_map<uint64_t, Released>;

struct GroupClock {
  uint32_t number = 0;
  uint32_t epoch = 0;
  ReleasedAt shared;  // by offset in shared memory
};

/// One access: who and when, and by which operation.
struct Stamp {
  uint32_t segment = 0;  // 0: no access
  uint32_t what = 0;
  static Stamp of(uint32_t segment, uint32_t op, bool coherent, bool atomic) {
    return {segment, op << 2 | (coherent ? 2u : 0u) | (atomic ? 1u : 0u)};
  }
  uint32_t op() const { return what >> 2; }
  bool coherent() const { return (what & 2) != 0; }
  bool atomic() const { return (what & 1) != 0; }
};

/// The last accesses of a few bytes. An atomic that is ordered behind a plain store does not take
/// its place: atomics of other threads need not be.
struct Cell {
  Stamp plain;                   // store
  std::array<Stamp, 2> atomics;  // that wrote since
  std::array<Stamp, 2> reads;
};

/// The cells of a block, or of the shared memory of a workgroup. Kept by page, each with cells as
/// small as the smallest access to it.
class Shadow {
 public:
  explicit Shadow(uint64_t bytes) : pages_((bytes + kPageBytes - 1) / kPageBytes) {}
  /// The cells of `bytes` bytes at `offset`, a multiple of `unit`, in one page.
  std::pair<Cell*, int> cells(uint64_t offset, int bytes, int unit);

 private:
  static constexpr uint64_t kPageBytes = 256;
  struct Page {
    int unit = 0;
    std::unique_ptr<Cell[]> cells;
  };
  std::vector<Page> pages_;
};

struct Who {
  uint32_t group = 0;
  uint16_t local = 0;
};

class Races {
 public:
  struct Access {
    uint64_t offset;  // into the shadow
    int bytes, unit;  // unit: of a scalar
    uint32_t op;
    bool write, coherent, atomic;
    bool shared;  // shared memory
  };
  struct Conflict {
    Stamp with;
    bool was_write = false;
  };
  /// Notes the access. Whether there is a conflict with an earlier one.
  bool access(Shadow& shadow, const GroupClock& group, ThreadClock& thread, const Access& a,
              Conflict& conflict);
  Who who(const Stamp& s) const { return {segments_[s.segment].group, segments_[s.segment].local}; }

  /// After an atomic's access. `at`: of the device, or GroupClock::shared.
  void atomic(ReleasedAt& at, uint64_t address, bool shared, const GroupClock& group,
              ThreadClock& thread, bool reads, bool writes, AtomicOrder order);
  ReleasedAt& device() { return device_; }
  void fence(const GroupClock& group, ThreadClock& thread, Scope scope);
  /// All threads of a workgroup meet: what one knows all know.
  void barrier(GroupClock& group, std::span<ThreadClock* const> threads);

 private:
  struct Segment {
    uint32_t group = 0, epoch = 0, time = 0;
    uint16_t local = 0;
  };
  uint32_t segment(const GroupClock& group, ThreadClock& thread, bool atomic);
  bool ordered(const Stamp& s, const GroupClock& group, const ThreadClock& thread, bool visible,
               bool shared) const;
  bool check(const Cell& cell, const GroupClock& group, const ThreadClock& thread, const Access& a,
             Conflict& conflict) const;
  void note_read(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                 bool shared) const;
  void note_write(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                  bool shared) const;
  KnowledgePtr release(const GroupClock& group, ThreadClock& thread);

  std::vector<Segment> segments_{1};
  ReleasedAt device_;  // by address
};

/// Kernels that nothing orders: what they access is compared, so workgroups of all of them have
/// numbers of their own.
class Launches {
 public:
  struct Launch {
    uint32_t first_group = 0;
    std::string kernel;
    std::vector<ir::ProvId> places;  // by operation
  };
  /// Begins one of `groups` workgroups; what it has is to be filled in.
  Launch& begin(uint32_t groups);
  /// Whether numbers are left for so many workgroups.
  bool has_room(int64_t groups) const { return groups < int64_t{UINT32_MAX} - next_group_; }
  /// Which one the workgroup is of.
  size_t of_group(uint32_t group) const;
  const Launch& launch(size_t k) const { return launches_[k]; }
  size_t count() const { return launches_.size(); }
  void clear();
  Races& races() { return races_; }

 private:
  std::vector<Launch> launches_;
  uint32_t next_group_ = 0;
  Races races_;
};

}  // namespace kenaz::kir::eval

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
  uint32_t atomic_segment = 0;  // as GroupClock::segments, of atomics behind a fence
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

class Shadow;

struct GroupClock {
  uint32_t number = 0;
  uint32_t epoch = 0;
  /// Segments below are of earlier epochs, or of workgroups that have ended, as far as they stamp
  /// shared memory.
  uint32_t fresh = 0;
  /// What stamps of plain accesses point to, by thread; 0: not made yet.
  std::vector<uint32_t> segments;
  uint32_t first = 0;  // the first segment that the workgroup may have made
  /// Pages of device memory that the workgroup has accessed.
  std::vector<std::pair<Shadow*, uint64_t>> touched;
  ReleasedAt shared;  // by offset in shared memory
  /// Its threads may release something: then two readers of a place do not tell of a third one, as
  /// whoever writes may be ordered behind what these two release later.
  bool releases = false;
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
  std::pair<Cell*, int> cells(uint64_t offset, int bytes, int unit) {
    Page& page = pages_[offset / kPageBytes];
    if (page.unit == 0 || page.unit > unit) refine(page, unit);
    return {&page.cells[offset % kPageBytes >> page.shift], bytes >> page.shift};
  }
  /// The workgroup accesses what is at `offset`.
  void touch(uint64_t offset, GroupClock& group) {
    Page& page = pages_[offset / kPageBytes];
    if (page.toucher == group.number + 1) return;
    page.toucher = group.number + 1;
    group.touched.emplace_back(this, offset / kPageBytes);
  }
  /// Makes segment `now` of all from `first` to `behind`. Where many cells then have the same
  /// stamps, they become one: large arrays that are written once need little memory.
  void restamp(uint64_t number, uint32_t first, uint32_t behind, uint32_t now);

 private:
  static constexpr int kPageBytes = 256;
  static constexpr int kMostMerges = 4, kLeastMerged = 8;
  struct Page {
    uint16_t unit = 0;     // bytes of a cell, a power of two; 0: there are none
    uint8_t shift = 0;     // its logarithm
    uint8_t merges = 0;    // how often cells became one: not each time that they are read
    uint32_t toucher = 0;  // 1 + the number of the workgroup that accessed it last
    std::unique_ptr<Cell[]> cells;
  };
  static void set_cells(Page& page, std::unique_ptr<Cell[]> cells, int unit);
  static void refine(Page& page, int unit);
  static void merge(Page& page);
  std::vector<Page> pages_;
};

struct Who {
  uint32_t group = 0;
  uint16_t local = 0;  // kAnyThread: not known
};
inline constexpr uint16_t kAnyThread = 0xffff;

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
  /// Notes the access. False if there is a conflict with an earlier one.
  bool access(Shadow& shadow, GroupClock& group, ThreadClock& thread, const Access& a,
              Conflict& conflict);
  /// Notes a plain access if it is easy to see that there is no conflict; else changes nothing that
  /// access() would not and returns false.
  bool quick(Shadow& shadow, GroupClock& group, size_t local, const Access& a) {
    const uint32_t mine = group.segments[local];
    if (mine == 0) return false;
    const Stamp now = Stamp::of(mine, a.op, a.coherent, false);
    auto [cell, n] = shadow.cells(a.offset, a.bytes, a.unit);
    const uint32_t fresh = a.shared ? group.fresh : 1;
    if (!a.shared) shadow.touch(a.offset, group);
    for (; n > 0; n--, cell++) {
      if (!(a.write ? quick_write(*cell, now, fresh) : quick_read(*cell, now, group, a.shared)))
        return false;
    }
    return true;
  }
  /// The workgroup begins. `releases`: its threads may release something.
  void begin(GroupClock& group, size_t threads, bool releases) {
    group.releases = releases;
    any_releases_ |= releases;
    begin_epoch(group, threads);
    group.first = group.fresh;
  }
  /// The workgroup ends, and no other one has run meanwhile. Nobody can learn any more what its
  /// threads did, unless they have released something, so that they need not be told apart.
  void end(GroupClock& group);
  /// Whether numbers of segments begin anew: then shared memory has no stamps to keep.
  bool restarts();
  Who who(const Stamp& s) const { return {of(s).group, of(s).local}; }

  /// After an atomic's access. `at`: of the device, or GroupClock::shared.
  void atomic(ReleasedAt& at, uint64_t address, bool shared, GroupClock& group, ThreadClock& thread,
              bool reads, bool writes, AtomicOrder order);
  ReleasedAt& device() { return device_; }
  void fence(GroupClock& group, ThreadClock& thread, Scope scope);
  /// All threads of a workgroup meet: what one knows all know.
  void barrier(GroupClock& group, std::span<ThreadClock* const> threads);

 private:
  struct Segment {
    uint32_t group = 0, epoch = 0, time = 0;
    uint16_t local = 0;
  };
  /// What stands below `fresh` is ordered before; the thread's own is, too.
  static bool is_behind(const Stamp& s, const Stamp& now, uint32_t fresh) {
    return s.segment < fresh || s.segment == now.segment;
  }
  bool quick_read(Cell& cell, const Stamp& now, const GroupClock& group, bool shared) const {
    if ((cell.atomics[0].segment | cell.atomics[1].segment) != 0) return false;
    const uint32_t fresh = shared ? group.fresh : 1;
    if (!is_behind(cell.plain, now, fresh)) return false;
    auto& [a, b] = cell.reads;
    if (a.segment == now.segment || b.segment == now.segment) return true;
    if (a.segment >= fresh && b.segment >= fresh) return two_tell(a, b, group, shared);
    (a.segment < fresh ? a : b) = now;
    return true;
  }
  /// Whether these readers of a place conflict with whomever a further one of the workgroup does.
  /// That is so if they are two of its threads, in this epoch, or if they are of two workgroups:
  /// whoever writes is another one than one of them, and nothing but barriers orders the two.
  bool two_tell(const Stamp& a, const Stamp& b, const GroupClock& group, bool shared) const {
    if (group.releases || a.atomic() || b.atomic()) return false;
    if (shared) return true;
    const Segment &x = of(a), &y = of(b);
    if (x.group != y.group) return !any_releases_;
    return x.group == group.number && x.epoch == group.epoch && y.epoch == group.epoch;
  }
  static bool quick_write(Cell& cell, const Stamp& now, uint32_t fresh) {
    if ((cell.atomics[0].segment | cell.atomics[1].segment) != 0) return false;
    if (!is_behind(cell.plain, now, fresh)) return false;
    auto& [a, b] = cell.reads;
    if (!is_behind(a, now, fresh) || !is_behind(b, now, fresh)) return false;
    cell.plain = now;
    a = b = Stamp{};
    return true;
  }
  uint32_t segment(GroupClock& group, ThreadClock& thread, bool atomic) {
    const bool early = atomic && thread.fence_time != 0;
    const uint32_t made = early ? thread.atomic_segment : group.segments[thread.local];
    return made != 0 ? made : make_segment(group, thread, early);
  }
  uint32_t make_segment(GroupClock& group, ThreadClock& thread, bool early);
  bool ordered(const Stamp& s, const GroupClock& group, const ThreadClock& thread, bool visible,
               bool shared) const;
  bool check(const Cell& cell, const GroupClock& group, const ThreadClock& thread, const Access& a,
             Conflict& conflict) const;
  void note_read(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                 bool shared) const;
  void note_write(Cell& cell, Stamp now, const GroupClock& group, const ThreadClock& thread,
                  bool shared) const;
  KnowledgePtr release(GroupClock& group, ThreadClock& thread);

  /// Numbers of what is in ended_.
  static constexpr uint32_t kEnded = uint32_t{1} << 31;
  const Segment& of(const Stamp& s) const {
    return s.segment >= kEnded ? ended_[s.segment - kEnded] : segments_[s.segment - base_];
  }
  uint32_t next_segment() const { return base_ + static_cast<uint32_t>(segments_.size()); }
  void begin_epoch(GroupClock& group, size_t threads) const {
    group.segments.assign(threads, 0);
    group.fresh = next_segment();
  }

  uint32_t base_ = 1;  // number of the first of:
  std::vector<Segment> segments_;
  std::vector<Segment> ended_;  // of workgroups, see end()
  bool knows_ = false;          // some thread has released something
  bool any_releases_ = false;   // of some workgroup, as GroupClock::releases
  ReleasedAt device_;           // by address
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

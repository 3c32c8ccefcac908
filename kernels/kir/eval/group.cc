#include "kernels/kir/eval/group.h"

#include <algorithm>

namespace kenaz::kir::eval {
namespace {

/// Between a thread's slots: no power of two, so that they do not share a few lines of a cache.
size_t stride_of(int64_t group_size) { return (static_cast<size_t>(group_size) + 7) / 8 * 8 + 8; }

}  // namespace

Group::Group(const Code& code, int subgroup_size)
    : threads(code.group_size),
      subgroups(code.group_size / subgroup_size + 1),
      data(code.shared_bytes),
      known(code.shared_bytes),
      shadow(code.shared_bytes),
      code_(code),
      subgroup_size_(subgroup_size),
      stride_(stride_of(code.group_size)),
      bits_(code.bits.size() * stride_),
      slots_known_(bits_.size()),
      origins_(bits_.size()),
      locals_(code.local_bytes * code.group_size),
      locals_known_(locals_.size()) {
  for (size_t k = 0; k < threads.size(); k++) {
    Thread& t = threads[k];
    t.bits = {bits_.data() + k, stride_};
    t.known = {slots_known_.data() + k, stride_};
    t.origin = {origins_.data() + k, stride_};
    t.local = locals_.data() + k * code.local_bytes;
    t.local_known = locals_known_.data() + k * code.local_bytes;
    clocks.push_back(&t.clock);
  }
}

void Group::begin(int64_t n, int64_t groups, bool stopped, uint32_t first) {
  number = n;
  done = 0;
  convoy.from = 0;
  barrier.waiting = 0;
  for (Meeting& m : subgroups) m.waiting = 0;
  clock = GroupClock{};
  clock.number = first + static_cast<uint32_t>(n);
  origins.clear();
  std::fill(known.begin(), known.end(), 0);
  std::fill(locals_known_.begin(), locals_known_.end(), 0);
  ready.clear();
  const auto size = static_cast<uint32_t>(code_.group_size);
  const auto subgroup = static_cast<uint32_t>(subgroup_size_);
  for (Slot s = 0; s < code_.bits.size(); s++) {
    std::fill_n(known_of(s), size, code_.known[s]);
    // What an undefined slot holds does not matter, but for the counters of loops.
    if (code_.known[s] != 0) std::fill_n(this->bits(s), size, code_.bits[s]);
  }
  for (const Slot s : code_.turn) std::fill_n(this->bits(s), size, 0);
  for (uint32_t k = 0; k < size; k++) {
    Thread& t = threads[k];
    const uint64_t builtins[] = {static_cast<uint64_t>(n),
                                 static_cast<uint64_t>(groups),
                                 k,
                                 size,
                                 k % subgroup,
                                 k / subgroup,
                                 size / subgroup,
                                 subgroup};
    static_assert(std::size(builtins) == kZeroSlot);
    for (Slot s = 0; s < kZeroSlot; s++) t.bits[s] = builtins[s];
    t.pc = code_.start;
    t.state = ThreadState::kReady;
    t.stopped = stopped;
    t.late = 0;
    t.clock = ThreadClock{};
    t.clock.local = static_cast<uint16_t>(k);
    ready.push_back(static_cast<uint16_t>(size - 1 - k));
  }
}

}  // namespace kenaz::kir::eval

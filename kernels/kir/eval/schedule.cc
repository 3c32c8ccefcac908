#include "kernels/kir/eval/schedule.h"

#include <utility>

namespace kenaz::kir::eval {

Schedule::Schedule(uint64_t seed, int64_t max_steps)
    : steps_left(max_steps), random_(seed != 0), rng_(seed), stalled_until_(max_steps) {
  constexpr uint32_t kAccesses[] = {1, 1, 2, 4, 16, 128};
  constexpr uint32_t kGroupChanges[] = {1, 4, 64};
  constexpr uint32_t kStalls[] = {0, 16, 256};
  accesses_ = kAccesses[rng_.below(std::size(kAccesses))];
  group_changes_ = kGroupChanges[rng_.below(std::size(kGroupChanges))];
  patience_ = 1 << rng_.below(kLongestPatience);
  stalls_ = kStalls[rng_.below(std::size(kStalls))];
}

std::vector<int64_t> Schedule::order(std::vector<int64_t> out) {
  if (!random_ || out.size() > kMostMixed) return out;
  for (size_t k = out.size(); k > 1; k--) {
    std::swap(out[k - 1], out[rng_.below(static_cast<uint32_t>(k))]);
  }
  return out;
}

size_t Schedule::pick_group(size_t running) {
  if (!random_ || running == 1) return current_++ % running;
  bool holds = steps_left > stalled_until_;
  if (!holds && stalls_ != 0 && rng_.below(stalls_) == 0) {
    holds = true;
    stalled_ = current_ % running;
    stalled_until_ = steps_left - rng_.below(1u << rng_.below(kLongestStall));
  }
  if (rng_.below(group_changes_) == 0 || (holds && current_ % running == stalled_)) {
    current_ = rng_.below(static_cast<uint32_t>(running));
    if (holds && current_ == stalled_) current_ = (current_ + 1) % running;
  }
  return current_ % running;
}

size_t Schedule::pick_thread(size_t ready) {
  if (!random_) {
    // The last one first, the next time the one before: one that waits for another lets it go on.
    cursor_ = cursor_ == 0 || cursor_ > ready ? ready : cursor_;
    return --cursor_;
  }
  accesses_left_ = 1 + static_cast<int32_t>(rng_.below(2 * accesses_ - 1));
  return rng_.below(static_cast<uint32_t>(ready));
}

}  // namespace kenaz::kir::eval

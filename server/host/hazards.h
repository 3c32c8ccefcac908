// Which commands need a barrier between them: what was done to each block since the last one.
#pragma once

#include <utility>
#include <vector>

#include "server/device/device.h"

namespace kenaz::host {

class Hazards {
 public:
  Hazards() { done_.reserve(kMost + 1); }

  /// Whether `block` may not be read (or written) yet without a barrier.
  bool before_read(const device::Block* block) const {
    return is_full() || (done_to(block) & kWritten) != 0;
  }
  bool before_write(const device::Block* block) const { return is_full() || done_to(block) != 0; }
  void note_read(const device::Block* block) { note(block, kRead); }
  void note_written(const device::Block* block) { note(block, kWritten); }

  /// The last reference to `block` is going: the memory may be handed out again at once.
  void note_freed(const device::Block* block) {
    for (auto& entry : done_) {
      if (entry.first != block) continue;
      entry = done_.back();
      done_.pop_back();
      freed_in_use_ = true;
      return;
    }
  }
  /// A new block may lie where one was freed that commands since the last barrier use.
  void note_new(const device::Block* block) {
    if (freed_in_use_) note(block, kWritten);
  }
  void note_barrier() {
    done_.clear();
    freed_in_use_ = false;
  }

 private:
  enum : unsigned char { kRead = 1, kWritten = 2 };
  /// Blocks that are looked through one by one, which is quicker than a table of so few. Beyond,
  /// there is a barrier before whatever comes next.
  static constexpr size_t kMost = 32;

  bool is_full() const { return done_.size() >= kMost; }
  unsigned char done_to(const device::Block* block) const {
    for (const auto& entry : done_) {
      if (entry.first == block) return entry.second;
    }
    return 0;
  }
  void note(const device::Block* block, unsigned char what) {
    for (auto& entry : done_) {
      if (entry.first != block) continue;
      entry.second |= what;
      return;
    }
    done_.emplace_back(block, what);
  }

  std::vector<std::pair<const device::Block*, unsigned char>> done_;
  bool freed_in_use_ = false;
};

}  // namespace kenaz::host

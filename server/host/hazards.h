// Which commands need a barrier between them: what was done to each block since the last one.
#pragma once

#include <unordered_map>

#include "server/device/device.h"

namespace kenaz::host {

class Hazards {
 public:
  /// Whether `block` may not be read (or written) yet without a barrier.
  bool before_read(const device::Block* block) const { return (done_to(block) & kWritten) != 0; }
  bool before_write(const device::Block* block) const { return done_to(block) != 0; }
  void note_read(const device::Block* block) { done_[block] |= kRead; }
  void note_written(const device::Block* block) { done_[block] |= kWritten; }

  /// The last reference to `block` is going: the memory may be handed out again at once.
  void note_freed(const device::Block* block) {
    if (done_.erase(block) != 0) freed_in_use_ = true;
  }
  /// A new block may lie where one was freed that commands since the last barrier use.
  void note_new(const device::Block* block) {
    if (freed_in_use_) done_[block] = kWritten;
  }
  void note_barrier() {
    done_.clear();
    freed_in_use_ = false;
  }

 private:
  enum : unsigned char { kRead = 1, kWritten = 2 };
  unsigned char done_to(const device::Block* block) const {
    const auto found = done_.find(block);
    return found == done_.end() ? 0 : found->second;
  }

  std::unordered_map<const device::Block*, unsigned char> done_;
  bool freed_in_use_ = false;
};

}  // namespace kenaz::host

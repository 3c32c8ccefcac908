// Memory that holds zeros and gets them back from the kernels that use it (program::OpAlloc): kept
// from call to call, so that a call need not clear any.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/program/program.h"
#include "server/device/device.h"

namespace kenaz::host {

/// Used by the device's thread.
class Zeroes {
 public:
  struct Taken {
    device::BlockPtr block;
    bool to_clear;  // by the caller, before it is used
  };
  /// A block of at least `bytes`, the same one for each number below program::kMostZeroes.
  Result<Taken> take(device::Device& device, int64_t bytes, uint8_t number) {
    Kept& kept = kept_[number];
    if (!kept.block || kept.block->bytes() < bytes) {
      KENAZ_ASSIGN(kept.block, device.allocate_unseen(std::max(bytes, kFewest)));
      kept.clear = false;
    }
    return Taken{kept.block, !std::exchange(kept.clear, true)};
  }
  /// What was launched with them may not have ended as it should.
  void spoil() {
    for (Kept& kept : kept_) kept.clear = false;
  }
  void release() { kept_ = {}; }

 private:
  static constexpr int64_t kFewest = 4096;  // bytes
  struct Kept {
    device::BlockPtr block;  // may be null
    bool clear = false;
  };
  std::array<Kept, program::kMostZeroes> kept_;
};

}  // namespace kenaz::host

// The blocks of the interpreter's memory, counted and limited.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "protocol/base/result.h"
#include "server/device/allowance.h"
#include "server/device/device.h"
#include "server/device/interpreter/unread.h"

namespace kenaz::device::interpreter {

/// Everything is for the device's own thread, except for release() and stats(). Outlives the device
/// as long as there are blocks.
class Store : public std::enable_shared_from_this<Store> {
 public:
  /// `unread` may be null; else it is told of the blocks that come and go.
  Store(int64_t limit, std::shared_ptr<Unread> unread)
      : limit_(limit), unread_(std::move(unread)) {}

  /// Zeros, which count as undefined.
  Result<BlockPtr> allocate(int64_t bytes);
  MemoryStats stats() const;
  void set_allowance(int64_t bytes);
  int64_t allowance() const;
  void forget_peak();
  /// The block's memory goes when the device is next used.
  void release(uint64_t address, int64_t bytes);
  /// What kernels run on; without the blocks that have been released.
  kir::Memory& memory();

 private:
  const int64_t limit_;
  const std::shared_ptr<Unread> unread_;
  kir::Memory memory_;
  mutable std::mutex mutex_;  // for what follows
  std::vector<uint64_t> released_;
  int64_t used_ = 0, peak_ = 0;
  Allowance allowance_;
};

/// kInternal if the range leaves the block.
Status check_range(const Block& block, int64_t offset, int64_t bytes);

/// Chunks are plain memory. Large ones are limited in number, as they are on other devices.
class ChunkMaker {
 public:
  Result<ChunkPtr> make(int64_t bytes);
  /// A large one, or null if few are left.
  Result<ChunkPtr> make_extra();

 private:
  std::shared_ptr<std::atomic<int>> large_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace kenaz::device::interpreter

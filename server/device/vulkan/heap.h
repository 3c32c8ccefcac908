// Device memory for blocks. Small ones are parts of slabs; from kLarge on a block has a slab of its
// own. Freed memory is kept for the next allocation and goes back to the driver only by trim(),
// which the caller may use only while no commands are recorded or running.
#pragma once

#include <map>
#include <mutex>

#include "server/device/device.h"
#include "server/device/vulkan/buffer.h"
#include "server/device/vulkan/range_pool.h"

namespace kenaz::device::vulkan {

class Heap;

class VulkanBlock : public Block {
 public:
  VulkanBlock(std::shared_ptr<Heap> heap, std::shared_ptr<Buffer> slab, int slab_number,
              int64_t offset, int64_t bytes, int64_t room)
      : heap_(std::move(heap)),
        slab_(std::move(slab)),
        slab_number_(slab_number),
        offset_(offset),
        bytes_(bytes),
        room_(room) {}
  ~VulkanBlock() override;
  uint64_t address() const override { return slab_->address + static_cast<uint64_t>(offset_); }
  int64_t bytes() const override { return bytes_; }

  VkBuffer buffer() const { return slab_->buffer.get(); }
  int64_t offset() const { return offset_; }
  /// Null if the host cannot reach it.
  std::byte* mapped() const { return slab_->mapped ? slab_->mapped + offset_ : nullptr; }

 private:
  friend class Heap;
  std::shared_ptr<Heap> heap_;
  std::shared_ptr<Buffer> slab_;
  int slab_number_;  // negative: a slab of its own
  int64_t offset_, bytes_, room_;
};

class Heap : public std::enable_shared_from_this<Heap> {
 public:
  static constexpr int64_t kLarge = int64_t{16} << 20;
  static constexpr int kSharedSlab = -2;

  /// `limit`: bytes that may be held at a time.
  Heap(ContextPtr context, int64_t limit) : context_(std::move(context)), limit_(limit) {}

  /// A block that the host can reach, with memory of its own.
  Result<BlockPtr> allocate_shared(int64_t bytes);
  /// kOutOfMemory if it would not fit now; the caller may trim() and try again.
  Result<BlockPtr> allocate(int64_t bytes);
  /// Returns memory that no block uses to the driver.
  void trim();
  MemoryStats stats() const;
  void forget_peak();
  /// Whether so much lies unused in large slabs that it should go back.
  bool hoards() const;

 private:
  friend class VulkanBlock;
  Result<BlockPtr> allocate_small(int64_t bytes, int64_t room);
  Result<BlockPtr> allocate_large(int64_t bytes, int64_t room);
  Status add_slab(int64_t room);
  Result<std::shared_ptr<Buffer>> new_slab(int64_t size);
  BlockPtr hand_out(std::shared_ptr<Buffer> slab, int number, int64_t offset, int64_t bytes,
                    int64_t room);
  void take_back(VulkanBlock& block);

  const ContextPtr context_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  RangePool pool_;
  std::map<int, std::shared_ptr<Buffer>> slabs_;
  std::multimap<int64_t, std::shared_ptr<Buffer>> spare_;  // large slabs without a block, by size
  std::multimap<int64_t, std::shared_ptr<Buffer>> shared_spare_;
  int next_slab_ = 0;
  int64_t next_slab_bytes_ = int64_t{4} << 20;
  int64_t held_ = 0, used_ = 0, peak_ = 0;
};

}  // namespace kenaz::device::vulkan

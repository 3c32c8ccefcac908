// Device memory for blocks. Small ones are parts of slabs; from kLarge on a block has a slab of its
// own. Freed memory is kept for the next allocation and goes back to the driver only by trim(),
// which the caller may use only while no commands are recorded or running.
//
// Memory that passes from one owner to another, or comes from the driver, is cleared: the heap says
// what is to be cleared, and the caller does it before anything recorded later (see take_fills).
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "server/device/allowance.h"
#include "server/device/device.h"
#include "server/device/vulkan/buffer.h"
#include "server/device/vulkan/owner_map.h"
#include "server/device/vulkan/range_pool.h"

namespace kenaz::device::vulkan {

class Heap;

struct Slab {
  Buffer buffer;
  OwnerMap owners;
};
using SlabPtr = std::shared_ptr<Slab>;

/// Bytes that are to become zero.
struct Fill {
  SlabPtr slab;
  int64_t offset = 0, bytes = 0;  // multiples of 4
};

class VulkanBlock : public Block {
 public:
  VulkanBlock(std::shared_ptr<Heap> heap, SlabPtr slab, int slab_number, int64_t offset,
              int64_t bytes, int64_t room)
      : heap_(std::move(heap)),
        slab_(std::move(slab)),
        slab_number_(slab_number),
        offset_(offset),
        bytes_(bytes),
        room_(room) {}
  ~VulkanBlock() override;
  uint64_t address() const override { return slab().address + static_cast<uint64_t>(offset_); }
  int64_t bytes() const override { return bytes_; }

  VkBuffer buffer() const { return slab().buffer.get(); }
  int64_t offset() const { return offset_; }
  /// From allocate_for_host.
  bool is_for_host() const;
  /// Null if the host cannot reach it.
  std::byte* mapped() const { return slab().mapped ? slab().mapped + offset_ : nullptr; }

 private:
  friend class Heap;
  const Buffer& slab() const { return slab_->buffer; }
  std::shared_ptr<Heap> heap_;
  SlabPtr slab_;
  int slab_number_;  // negative: a slab of its own
  int64_t offset_, bytes_, room_;
};

class Heap : public std::enable_shared_from_this<Heap> {
 public:
  static constexpr int64_t kLarge = int64_t{16} << 20;
  static constexpr int kSharedSlab = -2, kMailSlab = -3;

  /// `limit`: bytes that may be held at a time.
  Heap(ContextPtr context, int64_t limit) : context_(std::move(context)), limit_(limit) {}

  /// What allocate() gives from now on is this owner's.
  void set_owner(uint64_t owner) { owner_ = owner; }
  void set_allowance(int64_t bytes);
  int64_t allowance() const;
  /// Whether the allowance has room for a block.
  Status check_allowance(int64_t bytes) const;
  /// What is to be cleared since the last time, before the blocks given out are used.
  std::vector<Fill> take_fills() { return std::exchange(fills_, {}); }

  /// A block that the host can reach, with memory of its own; to be written by whoever gets it.
  Result<BlockPtr> allocate_shared(int64_t bytes);
  /// A block of host memory, for a few bytes that kernels write and the host reads. It holds zeros
  /// and what this owner has left in it. Only what was another's is cleared, and at once, by the
  /// host: commands that are recorded now may still read what is the owner's.
  Result<BlockPtr> allocate_for_host(int64_t bytes);
  /// kOutOfMemory if it would not fit now; the caller may trim() and try again.
  /// `unseen`: of which every byte is written before anything looks at it.
  Result<BlockPtr> allocate(int64_t bytes, bool unseen);
  /// Returns memory that no block uses to the driver.
  void trim();
  MemoryStats stats() const;
  void forget_peak();
  /// Whether so much lies unused in large slabs that it should go back.
  bool hoards() const;

 private:
  friend class VulkanBlock;
  struct Place {
    SlabPtr slab;
    int number = 0;
    int64_t offset = 0, room = 0;
  };
  Result<Place> small_place(int64_t room);
  Result<Place> large_place(int64_t room);
  Status add_slab(int64_t room);
  Result<Buffer> new_buffer(int64_t size);
  void claim(const Place& place, bool unseen);
  Result<Place> own_place(int64_t bytes, int number);
  BlockPtr hand_out(Place place, int64_t bytes);
  void take_back(VulkanBlock& block);

  const ContextPtr context_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  RangePool pool_;
  std::map<int, SlabPtr> slabs_;
  /// Slabs without a block, by size, and among equals by address: calls that allocate and free the
  /// same find the same memory each time, and what was recorded for them can be submitted again.
  std::map<std::pair<int64_t, uint64_t>, SlabPtr> spare_;              // large ones
  std::map<std::pair<int, int64_t>, std::vector<SlabPtr>> own_spare_;  // by kind and size
  // The device's thread's.
  uint64_t owner_ = 0;
  std::vector<Fill> fills_;
  int next_slab_ = 0;
  int64_t next_slab_bytes_ = int64_t{4} << 20;
  int64_t held_ = 0, used_ = 0, peak_ = 0;
  int64_t spare_bytes_ = 0;  // of large slabs without a block
  Allowance allowance_;
};

}  // namespace kenaz::device::vulkan

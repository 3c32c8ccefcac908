// The chunks of pinned, host-cached memory that bulk transfers go through.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "server/device/device.h"
#include "server/device/vulkan/buffer.h"
#include "server/device/vulkan/commands.h"

namespace kenaz::device::vulkan {

class ChunkPool;

class VulkanChunk : public Chunk {
 public:
  VulkanChunk(std::shared_ptr<ChunkPool> pool, Buffer buffer)
      : pool_(std::move(pool)), buffer_(std::move(buffer)) {}
  ~VulkanChunk() override;
  std::span<std::byte> bytes() const override {
    return {buffer_.mapped, static_cast<size_t>(buffer_.size)};
  }
  const Buffer& buffer() const { return buffer_; }

  Ticket ticket = 0;      // of the last submission that uses it
  bool arriving = false;  // that one writes to it

 private:
  std::shared_ptr<ChunkPool> pool_;
  Buffer buffer_;
};
using VulkanChunkPtr = std::shared_ptr<VulkanChunk>;

/// Chunks come back when their last holder lets go, on any thread; whoever records commands that
/// use one holds it until they have run.
class ChunkPool : public std::enable_shared_from_this<ChunkPool> {
 public:
  static constexpr int64_t kSmall = int64_t{256} << 10;
  static constexpr int64_t kLarge = int64_t{4} << 20;
  static constexpr int kMaxLarge = 24;

  explicit ChunkPool(ContextPtr context) : context_(std::move(context)) {}

  /// Large if `bytes` is more than a small one holds and a large one can be had.
  Result<VulkanChunkPtr> take(int64_t bytes);
  /// A large one, or null.
  Result<VulkanChunkPtr> take_extra();
  /// Returns what is not in use to the driver.
  void trim();

 private:
  friend class VulkanChunk;
  void take_back(Buffer buffer);
  Result<VulkanChunkPtr> make(std::vector<Buffer>& spare, int64_t size);

  const ContextPtr context_;
  std::mutex mutex_;
  std::vector<Buffer> small_, large_;  // not in use
  int large_made_ = 0;
};

}  // namespace kenaz::device::vulkan

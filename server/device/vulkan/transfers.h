// Bulk transfers between host bytes and device memory that the host cannot reach: through chunks of
// pinned, cached host memory, one being filled or emptied while the device works on the other.
#pragma once

#include <optional>
#include <span>

#include "server/device/vulkan/chunks.h"
#include "server/device/vulkan/commands.h"
#include "server/device/vulkan/heap.h"

namespace kenaz::device::vulkan {

void record_copy(const Context& context, VkCommandBuffer commands, VkBuffer src, int64_t src_offset,
                 VkBuffer dst, int64_t dst_offset, int64_t bytes);

class Transfers {
 public:
  Transfers(ContextPtr context, Commands& commands)
      : context_(std::move(context)),
        commands_(commands),
        pool_(std::make_shared<ChunkPool>(context_)) {}

  ChunkPool& pool() { return *pool_; }

  /// Set one chunk's copy going. `ordered`: after all that is recorded before, and before all that
  /// is recorded later.
  Status start_upload(const VulkanBlock& dst, int64_t offset, const VulkanChunkPtr& chunk,
                      int64_t bytes, bool ordered);
  Status start_download(const VulkanBlock& src, int64_t offset, const VulkanChunkPtr& chunk,
                        int64_t bytes, bool ordered);
  Status wait(VulkanChunk& chunk);

  /// Both wait until the data has arrived. Commands recorded before run first.
  Status upload(const VulkanBlock& dst, int64_t offset, std::span<const std::byte> data);
  Status download(const VulkanBlock& src, int64_t offset, std::span<std::byte> data);

  /// A few bytes at a time: the buffer for them, host-cached, kSmall bytes.
  static constexpr int64_t kSmall = 4096;
  Result<Buffer*> small();

 private:
  struct Pair {
    VulkanChunkPtr chunks[2];  // the second may be null
    int64_t size = 0;
    VulkanChunk& at(int64_t turn) const { return *of(turn); }
    const VulkanChunkPtr& of(int64_t turn) const {
      return chunks[1] ? chunks[turn % 2] : chunks[0];
    }
  };
  Result<Pair> pair(int64_t bytes);

  const ContextPtr context_;
  Commands& commands_;
  const std::shared_ptr<ChunkPool> pool_;
  std::optional<Buffer> small_;
};

}  // namespace kenaz::device::vulkan

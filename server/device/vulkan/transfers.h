// Bulk transfers between host bytes and device memory that the host cannot reach: through two
// chunks of pinned, cached host memory, one being copied by the host while the device works on the
// other.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "server/device/vulkan/commands.h"
#include "server/device/vulkan/heap.h"

namespace kenaz::device::vulkan {

void record_copy(const Context& context, VkCommandBuffer commands, VkBuffer src, int64_t src_offset,
                 VkBuffer dst, int64_t dst_offset, int64_t bytes);

class Transfers {
 public:
  explicit Transfers(ContextPtr context) : context_(std::move(context)) {}

  /// Both wait until the data has arrived. Commands recorded before run first.
  Status upload(Commands& commands, const VulkanBlock& dst, int64_t offset,
                std::span<const std::byte> data);
  Status download(Commands& commands, const VulkanBlock& src, int64_t offset,
                  std::span<std::byte> data);

  /// A few bytes at a time: the buffer for them, host-cached, kSmall bytes.
  static constexpr int64_t kSmall = 4096;
  Result<Buffer*> small();

 private:
  struct Chunk {
    std::optional<Buffer> buffer;
    Ticket ticket = 0;
  };
  Status prepare(int64_t bytes);

  const ContextPtr context_;
  std::array<Chunk, 2> chunks_;
  std::optional<Buffer> small_;
};

}  // namespace kenaz::device::vulkan

#include "server/device/vulkan/transfers.h"

#include <algorithm>
#include <cstring>

namespace kenaz::device::vulkan {

namespace {
constexpr int64_t kMinChunk = int64_t{256} << 10;
constexpr int64_t kMaxChunk = int64_t{8} << 20;
}  // namespace

void record_copy(const Context& context, VkCommandBuffer commands, VkBuffer src, int64_t src_offset,
                 VkBuffer dst, int64_t dst_offset, int64_t bytes) {
  VkBufferCopy region{};
  region.srcOffset = static_cast<VkDeviceSize>(src_offset);
  region.dstOffset = static_cast<VkDeviceSize>(dst_offset);
  region.size = static_cast<VkDeviceSize>(bytes);
  context.vk().vkCmdCopyBuffer(commands, src, dst, 1, &region);
}

Result<Buffer*> Transfers::small() {
  if (!small_) {
    KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, kSmall, Placement::kStaging));
    small_ = std::move(buffer);
  }
  return &*small_;
}

/// Chunks big enough for `bytes`, or of the largest size. Grown, never shrunk.
Status Transfers::prepare(int64_t bytes) {
  int64_t size = kMinChunk;
  while (size < kMaxChunk && size * 2 < bytes) size *= 2;
  for (Chunk& chunk : chunks_) {
    if (chunk.buffer && chunk.buffer->size >= size) continue;
    chunk.buffer.reset();
    KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, size, Placement::kStaging));
    chunk.buffer = std::move(buffer);
  }
  return {};
}

Status Transfers::upload(Commands& commands, const VulkanBlock& dst, int64_t offset,
                         std::span<const std::byte> data) {
  const int64_t total = static_cast<int64_t>(data.size());
  KENAZ_TRY(prepare(total));
  int64_t done = 0;
  for (int turn = 0; done < total; ++turn) {
    Chunk& chunk = chunks_[turn % 2];
    KENAZ_TRY(commands.wait(chunk.ticket));
    const int64_t n = std::min(total - done, chunk.buffer->size);
    std::memcpy(chunk.buffer->mapped, data.data() + done, static_cast<size_t>(n));
    KENAZ_TRY(chunk.buffer->flush(*context_));
    KENAZ_ASSIGN(VkCommandBuffer recorded, commands.recording());
    if (done == 0) record_barrier(*context_, recorded, false);
    record_copy(*context_, recorded, chunk.buffer->buffer.get(), 0, dst.buffer(),
                dst.offset() + offset + done, n);
    done += n;
    if (done == total) record_barrier(*context_, recorded, false);
    KENAZ_ASSIGN(chunk.ticket, commands.submit());
  }
  return commands.finish();
}

Status Transfers::download(Commands& commands, const VulkanBlock& src, int64_t offset,
                           std::span<std::byte> data) {
  const int64_t total = static_cast<int64_t>(data.size());
  KENAZ_TRY(prepare(total));
  const int64_t step = std::min(chunks_[0].buffer->size, chunks_[1].buffer->size);
  const auto start = [&](int64_t from) -> Status {
    Chunk& chunk = chunks_[from / step % 2];
    KENAZ_ASSIGN(VkCommandBuffer recorded, commands.recording());
    if (from == 0) record_barrier(*context_, recorded, false);
    record_copy(*context_, recorded, src.buffer(), src.offset() + offset + from,
                chunk.buffer->buffer.get(), 0, std::min(step, total - from));
    record_barrier(*context_, recorded, true);
    KENAZ_ASSIGN(chunk.ticket, commands.submit());
    return {};
  };
  KENAZ_TRY(start(0));
  for (int64_t done = 0; done < total; done += step) {
    if (done + step < total) KENAZ_TRY(start(done + step));
    Chunk& chunk = chunks_[done / step % 2];
    KENAZ_TRY(commands.wait(chunk.ticket));
    KENAZ_TRY(chunk.buffer->invalidate(*context_));
    std::memcpy(data.data() + done, chunk.buffer->mapped,
                static_cast<size_t>(std::min(step, total - done)));
  }
  return {};
}

}  // namespace kenaz::device::vulkan

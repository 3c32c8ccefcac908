#include "server/device/vulkan/transfers.h"

#include <algorithm>
#include <cstring>

namespace kenaz::device::vulkan {

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

Status Transfers::start_upload(const VulkanBlock& dst, int64_t offset, const VulkanChunkPtr& chunk,
                               int64_t bytes, bool ordered) {
  KENAZ_TRY(chunk->buffer().flush(*context_));
  if (ordered) commands_.barrier();
  KENAZ_ASSIGN(VkCommandBuffer recorded, commands_.recording());
  commands_.keep(chunk);
  record_copy(*context_, recorded, chunk->buffer().buffer.get(), 0, dst.buffer(),
              dst.offset() + offset, bytes);
  if (ordered) commands_.barrier();
  chunk->arriving = false;
  KENAZ_ASSIGN(chunk->ticket, commands_.submit());
  return {};
}

Status Transfers::start_download(const VulkanBlock& src, int64_t offset,
                                 const VulkanChunkPtr& chunk, int64_t bytes, bool ordered) {
  if (ordered) commands_.barrier();
  KENAZ_ASSIGN(VkCommandBuffer recorded, commands_.recording());
  commands_.keep(chunk);
  record_copy(*context_, recorded, src.buffer(), src.offset() + offset,
              chunk->buffer().buffer.get(), 0, bytes);
  KENAZ_TRY(commands_.barrier_to_host());
  chunk->arriving = true;
  KENAZ_ASSIGN(chunk->ticket, commands_.submit());
  return {};
}

Status Transfers::wait(VulkanChunk& chunk) {
  KENAZ_TRY(commands_.wait(chunk.ticket));
  if (chunk.arriving) KENAZ_TRY(chunk.buffer().invalidate(*context_));
  return {};
}

Result<Transfers::Pair> Transfers::pair(int64_t bytes) {
  Pair pair;
  KENAZ_ASSIGN(pair.chunks[0], pool_->take(bytes));
  pair.size = pair.chunks[0]->buffer().size;
  if (bytes <= 2 * ChunkPool::kSmall || pair.size == ChunkPool::kSmall) return pair;
  auto extra = pool_->take_extra();
  if (!extra || !*extra) return pair;
  pair.chunks[1] = std::move(*extra);
  constexpr int64_t kGrain = 4096;
  pair.size = std::min(pair.size, (bytes / 2 / kGrain + 1) * kGrain);
  return pair;
}

Status Transfers::upload(const VulkanBlock& dst, int64_t offset, std::span<const std::byte> data) {
  const int64_t total = static_cast<int64_t>(data.size());
  KENAZ_ASSIGN(const Pair pair, this->pair(total));
  for (int64_t done = 0, turn = 0; done < total; ++turn) {
    KENAZ_TRY(wait(pair.at(turn)));
    const int64_t n = std::min(total - done, pair.size);
    std::memcpy(pair.at(turn).bytes().data(), data.data() + done, static_cast<size_t>(n));
    const bool at_an_end = done == 0 || done + n == total;
    KENAZ_TRY(start_upload(dst, offset + done, pair.of(turn), n, at_an_end));
    done += n;
  }
  return commands_.finish();
}

Status Transfers::download(const VulkanBlock& src, int64_t offset, std::span<std::byte> data) {
  const int64_t total = static_cast<int64_t>(data.size());
  KENAZ_ASSIGN(const Pair pair, this->pair(total));
  const int64_t turns = (total - 1) / pair.size + 1;
  const int64_t ahead = pair.chunks[1] ? 1 : 0;
  const auto bytes_of = [&](int64_t turn) { return std::min(pair.size, total - turn * pair.size); };
  for (int64_t turn = 0; turn < turns + ahead; ++turn) {
    if (turn < turns) {
      KENAZ_TRY(
          start_download(src, offset + turn * pair.size, pair.of(turn), bytes_of(turn), turn == 0));
    }
    const int64_t done = turn - ahead;
    if (done < 0) continue;
    KENAZ_TRY(wait(pair.at(done)));
    std::memcpy(data.data() + done * pair.size, pair.at(done).bytes().data(),
                static_cast<size_t>(bytes_of(done)));
  }
  return {};
}

}  // namespace kenaz::device::vulkan

#include "server/device/vulkan/stash.h"

#include <cstring>

#include "protocol/base/check.h"

namespace kenaz::device::vulkan {

namespace {
constexpr int64_t kChunk = int64_t{256} << 10;
}

Result<Stash::Chunk*> Stash::chunk_with_room(Commands& commands, int64_t bytes) {
  if (current_ < chunks_.size()) {
    Chunk& chunk = chunks_[current_];
    if (commands.is_done(chunk.ticket)) chunk.used = 0;
    if (chunk.used + bytes <= kChunk) return &chunk;
  }
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (!commands.is_done(chunks_[i].ticket)) continue;
    current_ = i;
    chunks_[i].used = 0;
    return &chunks_[i];
  }
  KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, kChunk, Placement::kStash));
  chunks_.push_back({std::move(buffer), 0, 0});
  current_ = chunks_.size() - 1;
  return &chunks_.back();
}

Result<Stash::Place> Stash::put(Commands& commands, std::span<const std::byte> data) {
  CHECK(static_cast<int64_t>(data.size()) <= kMax);
  const int64_t bytes = (static_cast<int64_t>(data.size()) + 15) / 16 * 16;
  KENAZ_ASSIGN(Chunk * chunk, chunk_with_room(commands, bytes));
  const int64_t offset = chunk->used;
  if (!data.empty()) std::memcpy(chunk->buffer.mapped + offset, data.data(), data.size());
  chunk->used += bytes;
  chunk->ticket = commands.next_ticket();
  return Place{chunk->buffer.buffer.get(), offset,
               chunk->buffer.address + static_cast<uint64_t>(offset)};
}

}  // namespace kenaz::device::vulkan

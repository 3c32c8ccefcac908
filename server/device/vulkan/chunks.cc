#include "server/device/vulkan/chunks.h"

namespace kenaz::device::vulkan {

namespace {
constexpr size_t kSpareSmall = 16;
}

VulkanChunk::~VulkanChunk() { pool_->take_back(std::move(buffer_)); }

Result<VulkanChunkPtr> ChunkPool::make(std::vector<Buffer>& spare, int64_t size) {
  if (!spare.empty()) {
    Buffer buffer = std::move(spare.back());
    spare.pop_back();
    return std::make_shared<VulkanChunk>(shared_from_this(), std::move(buffer));
  }
  KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, size, Placement::kStaging));
  if (size == kLarge) ++large_made_;
  return std::make_shared<VulkanChunk>(shared_from_this(), std::move(buffer));
}

Result<VulkanChunkPtr> ChunkPool::take(int64_t bytes) {
  if (bytes > kSmall) {
    auto large = take_extra();
    if (!large && large.error().kind != ErrorKind::kOutOfMemory) return large;
    if (large && *large) return large;
  }
  std::lock_guard lock(mutex_);
  return make(small_, kSmall);
}

Result<VulkanChunkPtr> ChunkPool::take_extra() {
  std::lock_guard lock(mutex_);
  if (large_.empty() && large_made_ == kMaxLarge) return VulkanChunkPtr();
  return make(large_, kLarge);
}

void ChunkPool::take_back(Buffer buffer) {
  std::lock_guard lock(mutex_);
  if (buffer.size == kLarge) {
    large_.push_back(std::move(buffer));
  } else if (small_.size() < kSpareSmall) {
    small_.push_back(std::move(buffer));
  }
}

void ChunkPool::trim() {
  std::lock_guard lock(mutex_);
  large_made_ -= static_cast<int>(large_.size());
  large_.clear();
  small_.clear();
}

}  // namespace kenaz::device::vulkan

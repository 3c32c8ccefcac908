#include "server/device/vulkan/heap.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/check.h"

namespace kenaz::device::vulkan {

namespace {

constexpr int64_t kMaxSlab = int64_t{64} << 20;
constexpr int64_t kCpuSpare = int64_t{512} << 20;
constexpr int64_t kLargeGrain = int64_t{1} << 20;

int64_t round_up(int64_t n, int64_t grain) { return (n + grain - 1) / grain * grain; }

}  // namespace

VulkanBlock::~VulkanBlock() { heap_->take_back(*this); }

Result<BlockPtr> Heap::allocate_shared(int64_t bytes) {
  if (!has_shared_memory(context_->physical())) return allocate(bytes);
  const int64_t room = round_up(std::max<int64_t>(bytes, 1), RangePool::kGrain);
  std::lock_guard lock(mutex_);
  const auto spare = shared_spare_.find(room);
  if (spare != shared_spare_.end()) {
    auto slab = std::move(spare->second);
    shared_spare_.erase(spare);
    return hand_out(std::move(slab), kSharedSlab, 0, bytes, room);
  }
  KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, room, Placement::kShared));
  held_ += room;
  return hand_out(std::make_shared<Buffer>(std::move(buffer)), kSharedSlab, 0, bytes, room);
}

Result<BlockPtr> Heap::allocate(int64_t bytes) {
  const int64_t max = context_->physical().info.max_block_bytes;
  if (bytes > max) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: a single array of {} bytes is more than the device "
                            "{} allows ({} bytes)",
                            bytes, context_->physical().info.name, max));
  }
  const int64_t room = round_up(std::max<int64_t>(bytes, 1), RangePool::kGrain);
  std::lock_guard lock(mutex_);
  return room < kLarge ? allocate_small(bytes, room) : allocate_large(bytes, room);
}

Result<BlockPtr> Heap::allocate_small(int64_t bytes, int64_t room) {
  auto range = pool_.take(room);
  if (!range) {
    KENAZ_TRY(add_slab(room));
    range = pool_.take(room);
  }
  CHECK(range.has_value());
  return hand_out(slabs_.at(range->slab), range->slab, range->offset, bytes, room);
}

Result<BlockPtr> Heap::allocate_large(int64_t bytes, int64_t room) {
  // A spare slab of up to a quarter more will do.
  const auto spare = spare_.lower_bound(room);
  if (spare != spare_.end() && spare->first - room <= room / 4) {
    auto slab = std::move(spare->second);
    spare_.erase(spare);
    const int64_t size = slab->size;
    return hand_out(std::move(slab), -1, 0, bytes, size);
  }
  const int64_t size =
      std::min(round_up(room, kLargeGrain), context_->physical().info.max_block_bytes);
  KENAZ_ASSIGN(auto slab, new_slab(size));
  return hand_out(std::move(slab), -1, 0, bytes, size);
}

Status Heap::add_slab(int64_t room) {
  const int64_t size = std::max(next_slab_bytes_, round_up(room, kLargeGrain));
  KENAZ_ASSIGN(auto slab, new_slab(size));
  const int number = next_slab_++;
  slabs_.emplace(number, std::move(slab));
  pool_.add_slab(number, size);
  next_slab_bytes_ = std::min(2 * next_slab_bytes_, kMaxSlab);
  return {};
}

Result<std::shared_ptr<Buffer>> Heap::new_slab(int64_t size) {
  const auto no_room = [&](const std::string& why) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of device memory: {} bytes wanted while {} are in use and {} are "
                            "held of {} ({})",
                            size, used_, held_, limit_, why));
  };
  if (size > limit_ - held_) return no_room("the limit");
  auto buffer = Buffer::create(context_, size, Placement::kDevice);
  if (!buffer) {
    if (buffer.error().kind == ErrorKind::kOutOfMemory) return no_room(buffer.error().message);
    return tl::make_unexpected(std::move(buffer).error());
  }
  held_ += size;
  return std::make_shared<Buffer>(std::move(*buffer));
}

BlockPtr Heap::hand_out(std::shared_ptr<Buffer> slab, int number, int64_t offset, int64_t bytes,
                        int64_t room) {
  used_ += room;
  peak_ = std::max(peak_, used_);
  return std::make_shared<VulkanBlock>(shared_from_this(), std::move(slab), number, offset, bytes,
                                       room);
}

void Heap::take_back(VulkanBlock& block) {
  std::lock_guard lock(mutex_);
  used_ -= block.room_;
  if (block.slab_number_ == kSharedSlab) {
    shared_spare_.emplace(block.room_, std::move(block.slab_));
  } else if (block.slab_number_ < 0) {
    spare_.emplace(block.room_, std::move(block.slab_));
  } else {
    pool_.give({block.slab_number_, block.offset_}, block.room_);
  }
}

void Heap::trim() {
  std::lock_guard lock(mutex_);
  for (auto& [size, slab] : spare_) held_ -= size;
  spare_.clear();
  for (auto& [size, slab] : shared_spare_) held_ -= size;
  shared_spare_.clear();
  for (int number : pool_.remove_free_slabs()) {
    held_ -= slabs_.at(number)->size;
    slabs_.erase(number);
  }
}

MemoryStats Heap::stats() const {
  std::lock_guard lock(mutex_);
  return {used_, held_ - used_, peak_};
}

void Heap::forget_peak() {
  std::lock_guard lock(mutex_);
  peak_ = used_;
}

bool Heap::hoards() const {
  std::lock_guard lock(mutex_);
  int64_t spare = 0;
  for (const auto& [size, slab] : spare_) spare += size;
  // A CPU's memory is everybody's, and quickly had again.
  return spare > (context_->physical().info.is_cpu ? kCpuSpare : limit_ / 2);
}

}  // namespace kenaz::device::vulkan

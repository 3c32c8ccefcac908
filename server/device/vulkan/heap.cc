#include "server/device/vulkan/heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "protocol/base/check.h"

namespace kenaz::device::vulkan {

namespace {

constexpr int64_t kMaxSlab = int64_t{64} << 20;
constexpr int64_t kCpuSpare = int64_t{512} << 20;
constexpr int64_t kMostGrain = int64_t{1} << 20;

int64_t round_up(int64_t n, int64_t grain) { return (n + grain - 1) / grain * grain; }

}  // namespace

VulkanBlock::~VulkanBlock() { heap_->take_back(*this); }

bool VulkanBlock::is_for_host() const { return slab_number_ == Heap::kMailSlab; }

/// A small slab for one block, that the host can reach. `number`: kSharedSlab or kMailSlab.
Result<Heap::Place> Heap::own_place(int64_t bytes, int number) {
  const int64_t room = round_up(std::max<int64_t>(bytes, 1), RangePool::kGrain);
  std::vector<SlabPtr>& spare = own_spare_[{number, room}];
  if (!spare.empty()) {
    auto slab = std::move(spare.back());
    spare.pop_back();
    return Place{std::move(slab), number, 0, room};
  }
  const Placement placement = number == kSharedSlab ? Placement::kShared : Placement::kMail;
  KENAZ_ASSIGN(Buffer buffer, Buffer::create(context_, room, placement));
  held_ += room;
  auto slab = std::make_shared<Slab>(Slab{std::move(buffer), OwnerMap(room, false)});
  return Place{std::move(slab), number, 0, room};
}

Result<BlockPtr> Heap::allocate_shared(int64_t bytes) {
  if (!has_shared_memory(context_->physical())) return allocate(bytes, true);
  std::lock_guard lock(mutex_);
  KENAZ_ASSIGN(Place place, own_place(bytes, kSharedSlab));
  claim(place, true);
  return hand_out(std::move(place), bytes);
}

Result<BlockPtr> Heap::allocate_for_host(int64_t bytes) {
  std::lock_guard lock(mutex_);
  KENAZ_ASSIGN(Place place, own_place(bytes, kMailSlab));
  for (const auto& range : place.slab->owners.claim(place.offset, place.room, owner_)) {
    std::memset(place.slab->buffer.mapped + range.offset, 0, static_cast<size_t>(range.size));
  }
  return hand_out(std::move(place), bytes);
}

Result<BlockPtr> Heap::allocate(int64_t bytes, bool unseen) {
  const int64_t max = context_->physical().info.max_block_bytes;
  if (bytes > max) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: a single array of {} bytes is more than the device "
                            "{} allows ({} bytes)",
                            bytes, context_->physical().info.name, max));
  }
  const int64_t room = round_up(std::max<int64_t>(bytes, 1), RangePool::kGrain);
  std::lock_guard lock(mutex_);
  KENAZ_ASSIGN(Place place, room < kLarge ? small_place(room) : large_place(room));
  claim(place, unseen);
  return hand_out(std::move(place), bytes);
}

void Heap::set_allowance(int64_t bytes) {
  std::lock_guard lock(mutex_);
  allowance_.set(bytes, used_);
}

int64_t Heap::allowance() const {
  std::lock_guard lock(mutex_);
  return allowance_.left(used_);
}

Status Heap::check_allowance(int64_t bytes) const {
  std::lock_guard lock(mutex_);
  return allowance_.check(bytes, used_);
}

Result<Heap::Place> Heap::small_place(int64_t room) {
  auto range = pool_.take(room);
  if (!range) {
    KENAZ_TRY(add_slab(room));
    range = pool_.take(room);
  }
  CHECK(range.has_value());
  return Place{slabs_.at(range->slab), range->slab, range->offset, room};
}

Result<Heap::Place> Heap::large_place(int64_t room) {
  // A spare slab of up to a quarter more will do.
  const auto spare = spare_.lower_bound({room, 0});
  if (spare != spare_.end() && spare->first.first - room <= room / 4) {
    auto slab = std::move(spare->second);
    spare_bytes_ -= spare->first.first;
    spare_.erase(spare);
    const int64_t size = slab->buffer.size;
    return Place{std::move(slab), -1, 0, size};
  }
  // Arrays that grow by little find the same memory each time.
  const auto part = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(room) / 256));
  const int64_t size = std::min(round_up(room, std::min(part, kMostGrain)),
                                context_->physical().info.max_block_bytes);
  KENAZ_ASSIGN(Buffer buffer, new_buffer(size));
  auto slab = std::make_shared<Slab>(Slab{std::move(buffer), OwnerMap(size, false)});
  return Place{std::move(slab), -1, 0, size};
}

Status Heap::add_slab(int64_t room) {
  const int64_t size = std::max(next_slab_bytes_, round_up(room, kMostGrain));
  KENAZ_ASSIGN(Buffer buffer, new_buffer(size));
  // Cleared whole: that is quicker than block by block.
  auto slab = std::make_shared<Slab>(Slab{std::move(buffer), OwnerMap(size, true)});
  fills_.push_back({slab, 0, size});
  const int number = next_slab_++;
  slabs_.emplace(number, std::move(slab));
  pool_.add_slab(number, size);
  next_slab_bytes_ = std::min(2 * next_slab_bytes_, kMaxSlab);
  return {};
}

Result<Buffer> Heap::new_buffer(int64_t size) {
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
    return buffer;
  }
  held_ += size;
  return buffer;
}

void Heap::claim(const Place& place, bool unseen) {
  OwnerMap& owners = place.slab->owners;
  if (unseen) return owners.claim_unseen(place.offset, place.room, owner_);
  for (const auto& range : owners.claim(place.offset, place.room, owner_)) {
    fills_.push_back({place.slab, range.offset, range.size});
  }
}

BlockPtr Heap::hand_out(Place place, int64_t bytes) {
  used_ += place.room;
  peak_ = std::max(peak_, used_);
  return std::make_shared<VulkanBlock>(shared_from_this(), std::move(place.slab), place.number,
                                       place.offset, bytes, place.room);
}

void Heap::take_back(VulkanBlock& block) {
  std::lock_guard lock(mutex_);
  used_ -= block.room_;
  const uint64_t address = block.slab().address;
  if (block.slab_number_ == kSharedSlab || block.slab_number_ == kMailSlab) {
    own_spare_[{block.slab_number_, block.room_}].push_back(std::move(block.slab_));
  } else if (block.slab_number_ < 0) {
    spare_.emplace(std::pair(block.room_, address), std::move(block.slab_));
    spare_bytes_ += block.room_;
  } else {
    pool_.give({block.slab_number_, block.offset_}, block.room_);
  }
}

void Heap::trim() {
  std::lock_guard lock(mutex_);
  held_ -= std::exchange(spare_bytes_, 0);
  spare_.clear();
  for (const auto& [kind, slabs] : own_spare_) {
    held_ -= kind.second * static_cast<int64_t>(slabs.size());
  }
  own_spare_.clear();
  for (int number : pool_.remove_free_slabs()) {
    held_ -= slabs_.at(number)->buffer.size;
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
  // A CPU's memory is everybody's, and quickly had again.
  return spare_bytes_ > (context_->physical().info.is_cpu ? kCpuSpare : limit_ / 2);
}

}  // namespace kenaz::device::vulkan

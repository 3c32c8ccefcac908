#include "server/device/vulkan/range_pool.h"

#include "protocol/base/check.h"

namespace kenaz::device::vulkan {

void RangePool::insert(int slab, int64_t offset, int64_t size) {
  slabs_[slab].free.emplace(offset, size);
  by_size_.emplace(size, slab, offset);
}

void RangePool::erase(int slab, std::map<int64_t, int64_t>::iterator it) {
  by_size_.erase({it->second, slab, it->first});
  slabs_[slab].free.erase(it);
}

void RangePool::add_slab(int slab, int64_t size) {
  CHECK(size > 0 && size % kGrain == 0);
  slabs_[slab].size = size;
  insert(slab, 0, size);
  free_bytes_ += size;
}

std::optional<RangePool::Range> RangePool::take(int64_t size) {
  CHECK(size > 0 && size % kGrain == 0);
  std::optional<Range> taken;
  // The first by place, so that who takes several gets them in the same order each time.
  auto same = fresh_.end();
  for (auto it = fresh_.begin(); it != fresh_.end(); ++it) {
    if (it->size == size && (same == fresh_.end() || it->range < same->range)) same = it;
  }
  if (same != fresh_.end()) {
    taken = same->range;
    fresh_.erase(same);
  } else {
    taken = take_joined(size);
    if (!taken && !fresh_.empty()) {
      join_all();
      taken = take_joined(size);
    }
  }
  if (taken) free_bytes_ -= size;
  return taken;
}

std::optional<RangePool::Range> RangePool::take_joined(int64_t size) {
  const auto best = by_size_.lower_bound({size, 0, 0});
  if (best == by_size_.end()) return std::nullopt;
  const auto [room, slab, offset] = *best;
  erase(slab, slabs_[slab].free.find(offset));
  if (room > size) insert(slab, offset + size, room - size);
  return Range{slab, offset};
}

void RangePool::give(Range range, int64_t size) {
  free_bytes_ += size;
  if (fresh_.size() == kMostFresh) {
    join(fresh_.front().range, fresh_.front().size);
    fresh_.erase(fresh_.begin());
  }
  fresh_.push_back({range, size});
}

void RangePool::join_all() {
  for (const Fresh& fresh : fresh_) join(fresh.range, fresh.size);
  fresh_.clear();
}

void RangePool::join(Range range, int64_t size) {
  auto& free = slabs_[range.slab].free;
  int64_t offset = range.offset;
  auto next = free.lower_bound(offset);
  if (next != free.begin()) {
    const auto before = std::prev(next);
    CHECK(before->first + before->second <= offset);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      erase(range.slab, before);
    }
  }
  if (next != free.end() && next->first == offset + size) {
    size += next->second;
    erase(range.slab, next);
  }
  insert(range.slab, offset, size);
}

std::vector<int> RangePool::remove_free_slabs() {
  join_all();
  std::vector<int> gone;
  for (auto it = slabs_.begin(); it != slabs_.end();) {
    Slab& slab = it->second;
    if (slab.free.size() == 1 && slab.free.begin()->second == slab.size) {
      const int number = it->first;
      free_bytes_ -= slab.size;
      erase(number, slab.free.begin());
      it = slabs_.erase(it);
      gone.push_back(number);
    } else {
      ++it;
    }
  }
  return gone;
}

}  // namespace kenaz::device::vulkan

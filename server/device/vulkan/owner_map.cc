#include "server/device/vulkan/owner_map.h"

#include <iterator>

namespace kenaz::device::vulkan {

void OwnerMap::split(int64_t offset) {
  if (offset >= size_) return;
  const auto after = from_.upper_bound(offset);
  from_.emplace_hint(after, offset, std::prev(after)->second);
}

/// Each part of a range gets the owner owner_of(offset, size, old owner).
template <class F>
void OwnerMap::rewrite(int64_t offset, int64_t size, F owner_of) {
  const int64_t end = offset + size;
  split(offset);
  split(end);
  auto part = from_.find(offset);
  while (part != from_.end() && part->first < end) {
    const auto next = std::next(part);
    const int64_t part_end = next == from_.end() ? size_ : next->first;
    part->second = owner_of(part->first, part_end - part->first, part->second);
    part = next;
  }
  // Neighbours of one owner become one part: the map stays as small as the mixture is.
  auto last = from_.lower_bound(offset);
  if (last != from_.begin()) --last;
  for (auto next = std::next(last); next != from_.end() && next->first <= end;) {
    if (next->second == last->second) {
      next = from_.erase(next);
    } else {
      last = next++;
    }
  }
}

/// Whether the range is the owner's already: most that is allocated has just been freed.
bool OwnerMap::is_all_of(int64_t offset, int64_t size, uint64_t owner) const {
  const auto next = from_.upper_bound(offset);
  const int64_t end = next == from_.end() ? size_ : next->first;
  return std::prev(next)->second == owner && offset + size <= end;
}

std::vector<OwnerMap::Range> OwnerMap::claim(int64_t offset, int64_t size, uint64_t owner) {
  if (is_all_of(offset, size, owner)) return {};
  std::vector<Range> of_others;
  rewrite(offset, size, [&](int64_t at, int64_t bytes, uint64_t old) {
    const bool joins = !of_others.empty() && of_others.back().offset + of_others.back().size == at;
    if (old != owner && old != kClear) {
      if (joins) {
        of_others.back().size += bytes;
      } else {
        of_others.push_back({at, bytes});
      }
    }
    return owner;
  });
  return of_others;
}

void OwnerMap::claim_unseen(int64_t offset, int64_t size, uint64_t owner) {
  if (is_all_of(offset, size, owner)) return;
  rewrite(offset, size, [&](int64_t, int64_t, uint64_t old) {
    return old == owner || old == kClear ? owner : kUnknown;
  });
}

}  // namespace kenaz::device::vulkan

// Which parts of which slabs are free: best fit, neighbours joined when freed. Pure bookkeeping;
// knows no Vulkan. All sizes and offsets are multiples of kGrain.
//
// The last few that were freed are not joined yet: a call that comes again takes just these, and
// finding them among all the others takes longer than most else that a small call does.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace kenaz::device::vulkan {

class RangePool {
 public:
  static constexpr int64_t kGrain = 256;
  struct Range {
    int slab = 0;
    int64_t offset = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  /// `slab` is the caller's number for it.
  void add_slab(int slab, int64_t size);
  std::optional<Range> take(int64_t size);
  void give(Range range, int64_t size);
  /// Takes the slabs with nothing in use out of the pool and gives their numbers.
  std::vector<int> remove_free_slabs();
  int64_t free_bytes() const { return free_bytes_; }

 private:
  static constexpr size_t kMostFresh = 8;
  struct Slab {
    int64_t size = 0;
    std::map<int64_t, int64_t> free;  // offset -> size
  };
  struct Fresh {
    Range range;
    int64_t size = 0;
  };
  std::optional<Range> take_joined(int64_t size);
  void join(Range range, int64_t size);
  void join_all();
  void insert(int slab, int64_t offset, int64_t size);
  void erase(int slab, std::map<int64_t, int64_t>::iterator it);

  std::map<int, Slab> slabs_;
  std::set<std::tuple<int64_t, int, int64_t>> by_size_;  // size, slab, offset
  std::vector<Fresh> fresh_;                             // freed and not joined, the last one last
  int64_t free_bytes_ = 0;
};

}  // namespace kenaz::device::vulkan

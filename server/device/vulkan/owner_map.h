// Whose bytes lie where in a slab: what decides which parts of it are cleared before somebody else
// gets them. Pure bookkeeping; knows no Vulkan.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace kenaz::device::vulkan {

/// Memory keeps its owner after it was freed, until it is claimed again: an owner that gets its own
/// memory back finds it as it was.
class OwnerMap {
 public:
  struct Range {
    int64_t offset = 0, size = 0;
  };

  /// Everything is nobody's and clear, or (`clear` false) of unknown origin.
  OwnerMap(int64_t size, bool clear) : size_(size), from_{{0, clear ? kClear : kUnknown}} {}

  /// [offset, offset + size) is `owner`'s from now on. Gives the parts that hold bytes of others:
  /// they must be cleared before the owner can see them.
  std::vector<Range> claim(int64_t offset, int64_t size, uint64_t owner);
  /// The same for memory that its owner will write without looking at it. Nothing need be cleared:
  /// parts that held bytes of others count as of unknown origin until the next claim().
  void claim_unseen(int64_t offset, int64_t size, uint64_t owner);

 private:
  // Owners are numbered from 0; nobody will come this far.
  static constexpr uint64_t kClear = UINT64_MAX, kUnknown = UINT64_MAX - 1;
  bool is_all_of(int64_t offset, int64_t size, uint64_t owner) const;
  template <class F>
  void rewrite(int64_t offset, int64_t size, F owner_of);
  void split(int64_t offset);

  int64_t size_;
  std::map<int64_t, uint64_t> from_;  // where a part begins -> its owner; neighbours differ
};

}  // namespace kenaz::device::vulkan

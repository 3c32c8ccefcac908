// How long a thread that waits for the device looks for the end before it sleeps.
#pragma once

#include <algorithm>
#include <chrono>

namespace kenaz::device::vulkan {

/// To wake a thread takes 40 to 120 us: nothing beside 50 ms, but much beside what takes less than
/// kShort, and a fiftieth of what takes up to kLong. The second is looked for as well where
/// something like it has been waited for lately; otherwise a thread would look in vain for long.
class Patience {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr Duration kShort = std::chrono::milliseconds(3);
  static constexpr Duration kLong = std::chrono::milliseconds(12);

  /// How long to look for what is waited for now.
  Duration limit() const { return std::max(kShort, expected_ + expected_ / 4); }
  /// What was waited for took so long. What has not been seen for some ten times is forgotten.
  void note(Duration took) {
    expected_ -= expected_ / 16;
    if (took <= kLong) expected_ = std::max(expected_, took);
  }

 private:
  Duration expected_{0};
};

}  // namespace kenaz::device::vulkan

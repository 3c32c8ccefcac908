// Keeps a thread that waits for a GPU off the processors that the GPU interrupts.
//
// A GPU's driver may have all its interrupts sent to one processor of the machine, one for each
// submission that ends. A thread that polls for that end on just this processor sees it only after
// the interrupt has been served: with NVIDIA's driver 580 and an H200 a call of 23 us takes 54 us
// there, for as long as the scheduler leaves the thread where it is.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kenaz::device::vulkan {

/// Interrupts that each processor has had, by its number, from the text of Linux's
/// /proc/interrupts; empty if it is none. Processors that are off have 0.
std::vector<uint64_t> interrupts_of(std::string_view text);

/// Used by one thread, the one that waits.
class QuietProcessors {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kWaits = 20;                       // while interrupts are counted
  static constexpr std::chrono::microseconds kPause{40};  // after each
  static constexpr std::chrono::minutes kAgain{10};  // interrupts may be moved to other processors

  QuietProcessors();  // of this machine
  /// `read`: the text of /proc/interrupts. `allow`: has the calling thread run on these only.
  QuietProcessors(std::function<std::string()> read, std::function<void(const cpu_set_t&)> allow,
                  const cpu_set_t& allowed)
      : read_(std::move(read)), allow_(std::move(allow)), allowed_(allowed) {}

  /// Whether it is time to look: at first, and again from time to time.
  bool is_due(Clock::time_point now) const { return now >= due_; }
  /// Counts interrupts while `wait` is called kWaits times: it gives the device something to do,
  /// and waits for that; false if that failed. Takes some milliseconds.
  void look(Clock::time_point now, const std::function<bool()>& wait);

 private:
  std::function<std::string()> read_;
  std::function<void(const cpu_set_t&)> allow_;
  cpu_set_t allowed_;           // what the thread could run on at first; none: not known yet
  cpu_set_t quiet_ = allowed_;  // what it may run on now
  Clock::time_point due_ = Clock::time_point::min();
};

}  // namespace kenaz::device::vulkan

// Keeps a GPU's clock up for what is coming.
//
// NVIDIA's driver (seen with 580 and an H200) lowers the clock of a GPU that is not busy for some
// two seconds, to a fifth, and raises it again after a third of a second of full load only: a
// stream of small calls runs at the low clock for ever. But the driver raises the clock at once,
// for about two seconds, when a device is made. So that is what this does now and then while there
// is work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace kenaz::device::vulkan {

/// By any thread.
class Waker {
 public:
  /// `wake` takes some 0.1 s; it is called on a thread of this.
  explicit Waker(std::function<void()> wake) : wake_(std::move(wake)) {}
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// There is work, or there will be within a second.
  void work_ahead();

  using Clock = std::chrono::steady_clock;
  /// Between two wakes.
  static constexpr std::chrono::milliseconds kPause{1200};

 private:
  void run();

  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point last_ = Clock::now();  // the last wake: a device has just been made
  bool wanted_ = false, ends_ = false;
  std::thread thread_;  // started when first needed
};

}  // namespace kenaz::device::vulkan

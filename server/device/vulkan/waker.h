// Keeps a GPU's clock up while there is work for it.
//
// NVIDIA's driver (seen with 580 and an H200) lowers the clock of a GPU that is not busy for some
// two seconds, to a fifth, and raises it again after a third of a second of full load only: a
// stream of small calls runs at the low clock for ever. But the driver raises the clock at once,
// for about two seconds, when a device is made. So that is what this does, again and again, from
// the first work till some time after the last: not when work comes, since that may wait for it
// (see wake_process.h).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace kenaz::device::vulkan {

/// By any thread.
class Waker {
 public:
  using Clock = std::chrono::steady_clock;
  struct Times {
    std::chrono::milliseconds first{1300};    // after the beginning; takes longer than others
    std::chrono::milliseconds between{1600};  // two wakes
    std::chrono::milliseconds after{10000};   // the last work
  };
  /// Called on a thread of this; `rest` when there has been no work for long.
  struct Calls {
    std::function<void()> wake, rest = [] {};
  };
  explicit Waker(Calls calls) : Waker(std::move(calls), Times()) {}
  Waker(Calls calls, Times times) : calls_(std::move(calls)), times_(times) {}
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// There is work, or there will be soon.
  void work_ahead();

 private:
  void run();
  bool is_working() const { return Clock::now().time_since_epoch().count() < until_; }

  const Calls calls_;
  const Times times_;
  std::atomic<Clock::rep> until_ = 0;  // when there has been no work for long
  std::mutex mutex_;
  std::condition_variable changed_;
  bool runs_ = false, ends_ = false;
  std::thread thread_;  // started when first needed
};

}  // namespace kenaz::device::vulkan

// Lets the thread of input and output carry out short work itself, which saves handing it to
// another thread and back: waking a thread takes longer than a small call. Work that turns out to
// be long does not keep the server from reading: a second thread then stands in for input and
// output until it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace kenaz {

class StandIn {
 public:
  /// Work that takes longer than once to twice this is long.
  static constexpr std::chrono::milliseconds kPatience{1};

  /// `serve` does input and output on the second thread, and returns soon after is_wanted_back()
  /// became true. `call_back` is called by run(), to interrupt what `serve` waits for. Neither
  /// throws.
  StandIn(std::function<void()> serve, std::function<void()> call_back)
      : serve_(std::move(serve)), call_back_(std::move(call_back)) {}

  /// The second thread's body: returns after stop().
  void watch();
  void stop();

  /// By the thread of input and output: does `work`, which throws nothing. When this returns nobody
  /// stands in.
  void run(const std::function<void()>& work);
  bool is_wanted_back() const { return wanted_back_; }

 private:
  /// Waits until there is work; with the lock.
  void sleep(std::unique_lock<std::mutex>& lock);

  const std::function<void()> serve_, call_back_;
  // Counts run()'s beginnings and ends: odd while `work` is done, unless somebody stands in.
  std::atomic<uint64_t> turn_{0};
  std::atomic<bool> asleep_{false};  // watch() must be woken
  std::atomic<bool> wanted_back_{false};
  std::mutex mutex_;
  std::condition_variable wake_, back_;
  bool serving_ = false;
  bool stopped_ = false;
};

}  // namespace kenaz

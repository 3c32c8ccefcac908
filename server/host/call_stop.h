// Ends a call that takes too long, or that nobody waits for any more.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "protocol/base/result.h"
#include "server/device/device.h"

namespace kenaz::host {

class CallStop : public device::Watch {
 public:
  using Clock = std::chrono::steady_clock;
  /// How long a device may go on without finishing anything after it was told to stop, before it
  /// counts as lost.
  static constexpr std::chrono::seconds kGrace{10};

  /// Right for drivers that run on the CPU: they do not hang, they are slow only, and with a device
  /// everybody's values are lost.
  static constexpr Clock::duration kForEver = Clock::duration::max();

  /// `stop_device` makes what runs there end; may be empty.
  explicit CallStop(std::function<void()> stop_device = {}, Clock::duration grace = kGrace)
      : stop_device_(std::move(stop_device)), grace_(grace) {}

  /// Zero: calls may take as long as they like.
  void set_timeout(std::chrono::microseconds timeout) { timeout_ = timeout; }
  /// By any thread: ends the call that runs now, if any.
  void cancel();

  // ---- the engine's thread
  void begin();
  /// To be asked in every loop that a program may be in: fails if the call is to end.
  Status check() {
    return state_.load(std::memory_order_relaxed) == kRunning && timeout_.count() == 0
               ? Status()
               : check_thoroughly();
  }
  /// Like check() once the call is known to end; else it is not asked, and goes on.
  Status check_stopped() { return stopped_ ? failure() : Status(); }
  /// Waits for something with nothing on the device that is the call's. `done` waits for so long at
  /// most and says whether it is there. Fails if the call is cancelled. To be put inside away().
  Status wait(const std::function<bool(std::chrono::milliseconds)>& done);
  /// Runs what is no fault of the program's: the time-out does not run meanwhile.
  void away(const std::function<void()>& elsewhere);
  /// The call is over: fails if it was stopped, with the text for clients.
  Status end();
  std::chrono::nanoseconds look(bool progress) override;

 private:
  enum State : int { kIdle, kRunning, kCancelled };
  Status check_thoroughly();
  Status failure() const;
  void stop(bool late);

  const std::function<void()> stop_device_;
  const Clock::duration grace_;
  std::chrono::microseconds timeout_{0};
  std::atomic<int> state_ = kIdle;
  Clock::time_point deadline_;
  Clock::time_point last_sign_;  // of life, from the device, once it was told to stop
  bool stopped_ = false, late_ = false;
};

}  // namespace kenaz::host

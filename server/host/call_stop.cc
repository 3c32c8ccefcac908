#include "server/host/call_stop.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/host/failures.h"

namespace kenaz::host {

namespace {
// A wait is cut so short that a cancelled call ends soon after.
constexpr std::chrono::milliseconds kLook{20};
}  // namespace

void CallStop::cancel() {
  int running = kRunning;
  state_.compare_exchange_strong(running, kCancelled);
}

void CallStop::begin() {
  stopped_ = late_ = false;
  if (timeout_.count() > 0) deadline_ = Clock::now() + timeout_;
  state_ = kRunning;
}

Status CallStop::failure() const {
  if (!late_) return program_failure("the call was cancelled.", "");
  const double seconds = std::chrono::duration<double>(timeout_).count();
  return program_failure(fmt::format("the call took longer than {} seconds (--call-timeout) and "
                                     "was stopped.",
                                     seconds),
                         "");
}

void CallStop::stop(bool late) {
  stopped_ = true;
  late_ = late;
  last_sign_ = Clock::now();
  if (stop_device_) stop_device_();
}

Status CallStop::check_thoroughly() {
  if (!stopped_) {
    const int state = state_.load(std::memory_order_relaxed);
    if (state == kIdle) return {};
    const bool late = state == kRunning;
    if (late && (timeout_.count() == 0 || Clock::now() < deadline_)) return {};
    stop(late);
  }
  return failure();
}

Status CallStop::end() {
  state_ = kIdle;
  return std::exchange(stopped_, false) ? failure() : Status();
}

Status CallStop::wait(const std::function<bool(std::chrono::milliseconds)>& done) {
  while (!done(kLook)) {
    if (state_.load(std::memory_order_relaxed) == kCancelled) {
      stopped_ = true;  // but not the device, which may be others' now
      return failure();
    }
  }
  return {};
}

void CallStop::away(const std::function<void()>& elsewhere) {
  const auto start = Clock::now();
  elsewhere();
  deadline_ += Clock::now() - start;
}

std::chrono::nanoseconds CallStop::look(bool progress) {
  constexpr std::chrono::nanoseconds kLookAgain = kLook, kGiveUp{0};
  if (check()) {
    if (timeout_.count() == 0) return kLookAgain;
    const std::chrono::nanoseconds left = deadline_ - Clock::now();
    return std::clamp(left, std::chrono::nanoseconds(1), kLookAgain);
  }
  if (progress) last_sign_ = Clock::now();
  return Clock::now() - last_sign_ < grace_ ? kLookAgain : kGiveUp;
}

}  // namespace kenaz::host

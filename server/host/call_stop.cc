#include "server/host/call_stop.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/host/failures.h"

namespace kenaz::host {

namespace {
// A wait is cut so short that a cancelled call ends soon after.
constexpr std::chrono::nanoseconds kLook = std::chrono::milliseconds(20);
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
  stopped_at_ = Clock::now();
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

std::chrono::nanoseconds CallStop::look() {
  if (check()) {
    if (timeout_.count() == 0) return kLook;
    const std::chrono::nanoseconds left = deadline_ - Clock::now();
    return std::clamp(left, std::chrono::nanoseconds(1), kLook);
  }
  return Clock::now() - stopped_at_ < kGrace ? kLook : std::chrono::nanoseconds(0);
}

}  // namespace kenaz::host

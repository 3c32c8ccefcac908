#include "server/device/vulkan/waker.h"

#include <system_error>

namespace kenaz::device::vulkan {

Waker::~Waker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Waker::work_ahead() {
  const bool was_working = is_working();
  until_ = (Clock::now() + times_.after).time_since_epoch().count();
  if (was_working) return;
  const std::lock_guard lock(mutex_);
  if (runs_) return;
  if (thread_.joinable()) {
    runs_ = true;
    changed_.notify_one();
    return;
  }
  try {
    thread_ = std::thread([this] { run(); });
    runs_ = true;
  } catch (const std::system_error&) {
    until_ = 0;  // next time, perhaps
  }
}

void Waker::run() {
  // A device has just been made.
  Clock::time_point next = Clock::now() + times_.first;
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (!is_working()) {
      runs_ = false;
      lock.unlock();
      calls_.rest();
      lock.lock();
      changed_.wait(lock, [&] { return runs_ || ends_; });
    } else if (changed_.wait_until(lock, next, [&] { return ends_; })) {
      return;
    } else {
      lock.unlock();
      calls_.wake();
      next = Clock::now() + times_.between;
      lock.lock();
    }
  }
}

}  // namespace kenaz::device::vulkan

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
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (now - last_ < kPause) return;
  last_ = now;
  wanted_ = true;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // next time, perhaps
    }
  }
  changed_.notify_one();
}

void Waker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return wanted_ || ends_; });
    if (ends_) return;
    wanted_ = false;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace kenaz::device::vulkan

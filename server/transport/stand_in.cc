#include "server/transport/stand_in.h"

namespace kenaz {

namespace {
// Without work for so many looks, the second thread looks no more until it is woken.
constexpr int kIdleLooks = 20;
}  // namespace

void StandIn::run(const std::function<void()>& work) {
  uint64_t turn = ++turn_;
  if (asleep_) {  // set before watch() reads the turn for the last time
    const std::lock_guard lock(mutex_);
    asleep_ = false;
    wake_.notify_one();
  }
  work();
  if (turn_.compare_exchange_strong(turn, turn + 1)) return;
  std::unique_lock lock(mutex_);
  wanted_back_ = true;
  lock.unlock();
  call_back_();
  lock.lock();
  back_.wait(lock, [&] { return !serving_; });
  wanted_back_ = false;
}

void StandIn::watch() {
  uint64_t seen = 0;
  int idle_looks = 0;
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    uint64_t turn = turn_;
    const bool lasts = turn == seen;
    if (lasts && turn % 2 == 1 && turn_.compare_exchange_strong(turn, turn + 1)) {
      serving_ = true;
      lock.unlock();
      serve_();
      lock.lock();
      serving_ = false;
      back_.notify_one();
    }
    idle_looks = lasts ? idle_looks + 1 : 0;
    seen = turn;
    if (idle_looks < kIdleLooks) {
      wake_.wait_for(lock, kPatience);
    } else {
      idle_looks = 0;
      asleep_ = true;
      if (turn_ == seen) sleep(lock);
      asleep_ = false;
    }
  }
}

void StandIn::sleep(std::unique_lock<std::mutex>& lock) {
  wake_.wait(lock, [&] { return stopped_ || !asleep_; });
}

void StandIn::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  wake_.notify_one();
}

}  // namespace kenaz

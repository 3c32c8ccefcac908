#include "server/transport/job_queue.h"

#include <exception>
#include <thread>
#include <utility>

namespace kenaz {

namespace {
constexpr size_t kMostHelpers = 16;
}

void JobQueue::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  ready_.notify_one();
}

void JobQueue::offer(Job job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  offered_ = true;
}

void JobQueue::hand_on() {
  if (offered_.exchange(false)) ready_.notify_one();
}

void JobQueue::take_offered() {
  std::unique_lock lock(mutex_);
  if (jobs_.size() == 1 && free_ > 0 && coming_back_ == 0 && !stopped_) {
    offered_ = false;
    return carry_out(lock);
  }
  lock.unlock();
  hand_on();
}

void JobQueue::run() {
  work();
  std::vector<std::unique_ptr<LargeStackThread>> ending;
  do {
    ending.clear();  // waits for them; one that was still at work may have begun another
    const std::lock_guard lock(mutex_);
    ending.swap(helpers_);
  } while (!ending.empty());
}

void JobQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++waiting_;
    ready_.wait(lock, [&] {
      if (jobs_.empty()) return stopped_;
      return free_ > 0 && coming_back_ == 0;
    });
    --waiting_;
    if (jobs_.empty()) return;
    carry_out(lock);
  }
}

/// The first job; without the lock while it runs.
void JobQueue::carry_out(std::unique_lock<std::mutex>& lock) {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  --free_;
  ++working_;
  lock.unlock();
  job();
  job = {};
  lock.lock();
  ++free_;
  --working_;
  idle_.notify_all();
  back_.notify_one();
  if (stopped_ || !jobs_.empty()) wake();
}

/// For a job, a turn, or the end.
void JobQueue::wake() {
  if (stopped_) {
    ready_.notify_all();
  } else {
    ready_.notify_one();
  }
}

void JobQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  ready_.notify_all();
}

void JobQueue::step_aside(const std::function<void()>& wait) {
  const bool gave_way = make_way();
  wait();
  if (gave_way) come_back();
}

/// False if no thread can be had for the others.
bool JobQueue::make_way() {
  std::unique_lock lock(mutex_);
  if (waiting_ == 0) {
    if (helpers_.size() == kMostHelpers) return false;
    try {
      helpers_.reserve(helpers_.size() + 1);
      auto began = std::make_shared<bool>(true);
      lock.unlock();
      auto helper =
          std::make_unique<LargeStackThread>([this, began, self = std::this_thread::get_id()] {
            if (std::this_thread::get_id() == self) {
              *began = false;
            } else {
              work();
            }
          });
      lock.lock();
      if (!*began) return false;
      helpers_.push_back(std::move(helper));
    } catch (const std::exception&) {
      return false;
    }
  }
  ++free_;
  wake();
  return true;
}

void JobQueue::come_back() {
  std::unique_lock lock(mutex_);
  ++coming_back_;
  back_.wait(lock, [&] { return free_ > 0; });
  --coming_back_;
  --free_;
  wake();
}

bool JobQueue::abandon(std::chrono::milliseconds patience) {
  std::deque<Job> dropped;  // goes after the lock
  std::unique_lock lock(mutex_);
  dropped.swap(jobs_);
  return idle_.wait_for(lock, patience, [&] { return working_ == 0; });
}

}  // namespace kenaz

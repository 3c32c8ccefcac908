// Work for other threads than that of input and output, in the order it came: one queue is the
// device's, run by one thread; another is for what takes long without the device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace kenaz {

class JobQueue {
 public:
  using Job = std::function<void()>;  // throws nothing

  /// By any thread.
  void post(Job job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    ready_.notify_one();
  }

  /// Runs jobs until stop() was called and none are left. Several threads may do so at a time.
  void run() {
    while (true) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
        ++working_;
      }
      job();
      job = {};
      const std::lock_guard lock(mutex_);
      --working_;
      idle_.notify_all();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    ready_.notify_all();
  }

  /// Drops the jobs that wait; true if none is being run, after waiting for `patience`.
  bool abandon(std::chrono::milliseconds patience) {
    std::deque<Job> dropped;  // goes after the lock
    std::unique_lock lock(mutex_);
    dropped.swap(jobs_);
    return idle_.wait_for(lock, patience, [&] { return working_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_, idle_;
  std::deque<Job> jobs_;
  bool stopped_ = false;
  int working_ = 0;
};

}  // namespace kenaz

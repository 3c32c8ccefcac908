// Work for other threads than that of input and output, in the order it came: one queue is the
// device's, of which one job runs at a time; another is for what takes long without the device.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "protocol/base/large_stack_thread.h"

namespace kenaz {

class JobQueue {
 public:
  using Job = std::function<void()>;  // throws nothing

  /// So many jobs run at a time, if as many threads run() the queue.
  explicit JobQueue(int at_a_time = 1) : free_(at_a_time) {}

  /// By any thread.
  void post(Job job);

  /// As post(), but other threads are told of the job only when take_offered() does not take it, or
  /// by hand_on(). One of these must follow soon.
  void offer(Job job);
  bool has_offered() const { return offered_; }
  /// Runs an offered job, if it is the only one and may run now.
  void take_offered();
  void hand_on();

  /// Runs jobs until stop() was called and none are left. Several threads may do so at a time.
  void run();

  void stop();

  /// By a job: while `wait` runs, other jobs do, as if this one had ended, on threads of the
  /// queue's own. Returns when it is this job's turn again. `wait` throws nothing. Where threads
  /// run out, nobody else's turn comes meanwhile.
  void step_aside(const std::function<void()>& wait);

  /// Drops the jobs that wait; true if none is being run, after waiting for `patience`.
  bool abandon(std::chrono::milliseconds patience);

 private:
  void work();
  void carry_out(std::unique_lock<std::mutex>& lock);
  void wake();
  bool make_way();
  void come_back();

  std::mutex mutex_;
  std::condition_variable ready_, back_, idle_;
  std::deque<Job> jobs_;
  std::vector<std::unique_ptr<LargeStackThread>> helpers_;
  bool stopped_ = false;
  std::atomic<bool> offered_ = false;
  int free_;             // more jobs may run now
  int working_ = 0;      // jobs that have begun
  int waiting_ = 0;      // threads that have no job
  int coming_back_ = 0;  // jobs that stepped aside, and would go on
};

}  // namespace kenaz

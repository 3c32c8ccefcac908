// A queue of work for each of the server's devices, and the threads that carry it out.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "server/transport/job_queue.h"

namespace kenaz {

/// By any thread, unless it says otherwise.
class DeviceQueues {
 public:
  /// For so many devices, at least 1.
  explicit DeviceQueues(size_t devices = 1);

  JobQueue& of(size_t device) { return *queues_[device]; }
  /// For DevicePool::Post and ProgramFiles::Post.
  std::function<void(size_t, std::function<void()>)> post() {
    return [this](size_t device, std::function<void()> job) { of(device).post(std::move(job)); };
  }

  /// Runs the first device's jobs, and the others' on threads of their own, until stop() was called
  /// and none are left. False: threads cannot be had for all, and nothing has been run.
  bool run();
  void stop();

  // ---- see JobQueue
  bool has_offered() const;
  /// Runs an offered job; those of other devices go to their threads.
  void take_offered();
  void hand_on();
  /// True if none is being run on any device.
  bool abandon(std::chrono::milliseconds patience);

 private:
  std::vector<std::unique_ptr<JobQueue>> queues_;
};

}  // namespace kenaz

#include "server/transport/device_queues.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "protocol/base/check.h"
#include "protocol/base/large_stack_thread.h"

namespace kenaz {

DeviceQueues::DeviceQueues(size_t devices) {
  CHECK(devices > 0);
  for (size_t k = 0; k < devices; ++k) queues_.push_back(std::make_unique<JobQueue>());
}

bool DeviceQueues::run() {
  std::atomic<bool> have_threads = true;
  std::vector<std::unique_ptr<LargeStackThread>> threads;
  for (size_t k = 1; k < queues_.size() && have_threads; ++k) {
    threads.push_back(std::make_unique<LargeStackThread>(
        [this, k, &have_threads, self = std::this_thread::get_id()] {
          if (std::this_thread::get_id() == self) {
            have_threads = false;
          } else {
            of(k).run();
          }
        }));
  }
  if (have_threads) {
    of(0).run();
  } else {
    stop();
  }
  return have_threads;
}

void DeviceQueues::stop() {
  for (const auto& queue : queues_) queue->stop();
}

bool DeviceQueues::has_offered() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& q) { return q->has_offered(); });
}

void DeviceQueues::take_offered() {
  JobQueue* first = nullptr;
  for (const auto& queue : queues_) {
    if (!queue->has_offered()) continue;
    if (first == nullptr) {
      first = queue.get();
    } else {
      queue->hand_on();
    }
  }
  if (first != nullptr) first->take_offered();
}

void DeviceQueues::hand_on() {
  for (const auto& queue : queues_) queue->hand_on();
}

bool DeviceQueues::abandon(std::chrono::milliseconds patience) {
  bool idle = true;  // each is asked: what waits is dropped everywhere
  for (const auto& queue : queues_) idle = queue->abandon(patience) && idle;
  return idle;
}

}  // namespace kenaz

// A queue between two threads that holds a few items: who is faster waits for the other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace kenaz::client {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t limit) : limit_(limit) {}

  /// Adds an item, once there is room. Returns false, and drops the item, if the queue is closed.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || items_.size() < limit_; });
    return add(std::move(item));
  }
  /// The same, but drops the item where there is no room.
  bool offer(T item) {
    const std::lock_guard lock(mutex_);
    return items_.size() < limit_ && add(std::move(item));
  }
  /// Waits for an item. Returns nullopt when the queue is closed and all items are taken.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return take();
  }
  /// The same without waiting: nullopt also if there is no item now.
  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }
  /// Lets nothing more in. What is in the queue can be taken.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Lets nothing more in, and drops what is there.
  void abandon() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    items_.clear();
    changed_.notify_all();
  }

 private:
  bool add(T item) {
    if (closed_) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item = std::move(items_.front());
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace kenaz::client

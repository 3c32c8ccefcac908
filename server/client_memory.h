// The host memory that clients cause: lines and replies on their way, sessions' names, variables'
// names, profile events, values that have not reached the device. One sum, with one limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "protocol/base/result.h"

namespace kenaz {

/// All functions may be called by any thread.
class ClientMemory {
 public:
  /// What it is for: so many eighths of the limit at most. Whoever sends much leaves room for the
  /// small things that others need, and for others.
  enum class Use {
    kPassing = 6,     // lines, replies, values on their way
    kKept = 7,        // variables, names, events
    kConnection = 8,  // a new connection
  };

  /// In bytes; 0: any number.
  explicit ClientMemory(int64_t limit) : limit_(limit) {}

  /// False, and nothing is taken, if it would be too much.
  bool take(int64_t bytes, Use use) {
    constexpr int64_t kEighths = 8;
    const int64_t before = used_.fetch_add(bytes);
    if (limit_ == 0 || before + bytes <= limit_ / kEighths * static_cast<int64_t>(use)) return true;
    used_ -= bytes;
    return false;
  }
  void give_back(int64_t bytes) { used_ -= bytes; }
  int64_t used() const { return used_; }

 private:
  const int64_t limit_;
  std::atomic<int64_t> used_{0};
};

/// What one holder has of it. One thread at a time.
class MemoryShare {
 public:
  /// Null: nothing is counted, and everything allowed.
  MemoryShare(std::shared_ptr<ClientMemory> memory, ClientMemory::Use use)
      : memory_(std::move(memory)), use_(use) {}
  ~MemoryShare() { set(0); }
  MemoryShare(MemoryShare&& other) noexcept
      : memory_(std::move(other.memory_)),
        use_(other.use_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&&) = delete;

  /// Has `bytes` from now on. False, and nothing changes, if that is more than before and too much.
  bool set(int64_t bytes) {
    if (memory_ && bytes > bytes_ && !memory_->take(bytes - bytes_, use_)) return false;
    if (memory_ && bytes < bytes_) memory_->give_back(bytes_ - bytes);
    bytes_ = bytes;
    return true;
  }
  bool add(int64_t bytes) { return set(bytes_ + bytes); }
  int64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<ClientMemory> memory_;
  const ClientMemory::Use use_;
  int64_t bytes_ = 0;
};

/// What a client is told whose share cannot grow.
inline tl::unexpected<Error> no_client_memory() {
  return fail(ErrorKind::kOutOfMemory,
              "The server has no memory left for what its clients send and keep "
              "(--max-client-memory).");
}

}  // namespace kenaz

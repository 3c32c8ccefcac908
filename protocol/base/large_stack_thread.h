// A thread for recursion that follows what users wrote: compilers', ours and drivers'.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "protocol/base/result.h"

namespace kenaz {

class LargeStackThread {
 public:
  static constexpr size_t kStackBytes = size_t{256} << 20;  // only what is used costs memory

  /// Runs `body`, which must not throw, at once on a thread; on this one if none can be had.
  explicit LargeStackThread(std::function<void()> body);
  /// Waits until it has ended.
  ~LargeStackThread() {
    if (body_) pthread_join(thread_, nullptr);
  }
  LargeStackThread(LargeStackThread&&) = delete;
  LargeStackThread& operator=(LargeStackThread&&) = delete;

 private:
  std::unique_ptr<std::function<void()>> body_;  // null: there is no thread
  pthread_t thread_{};
};

/// Runs `body`, which must not throw, on a thread with a stack of `bytes`, and waits for it. An
/// internal error if no thread can be had: `body` has not run then.
Status run_on_large_stack(size_t bytes, const std::function<void()>& body);

}  // namespace kenaz

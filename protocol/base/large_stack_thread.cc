#include "protocol/base/large_stack_thread.h"

namespace kenaz {

namespace {

/// False: there is no thread.
bool start(pthread_t& thread, size_t stack_bytes, const std::function<void()>& body) {
  const auto run = [](void* p) -> void* {
    (*static_cast<const std::function<void()>*>(p))();
    return nullptr;
  };
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool started =
      pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

LargeStackThread::LargeStackThread(std::function<void()> body)
    : body_(std::make_unique<std::function<void()>>(std::move(body))) {
  if (start(thread_, kStackBytes, *body_)) return;
  (*body_)();
  body_.reset();
}

Status run_on_large_stack(size_t bytes, const std::function<void()>& body) {
  pthread_t thread{};
  if (!start(thread, bytes, body))
    return internal_error("cannot start a thread with a large stack");
  pthread_join(thread, nullptr);
  return {};
}

}  // namespace kenaz

#include "protocol/base/large_stack_thread.h"

namespace kenaz {

LargeStackThread::LargeStackThread(std::function<void()> body)
    : body_(std::make_unique<std::function<void()>>(std::move(body))) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const auto run = [](void* p) -> void* {
    (*static_cast<std::function<void()>*>(p))();
    return nullptr;
  };
  const int failed = pthread_create(&thread_, &attributes, run, body_.get());
  pthread_attr_destroy(&attributes);
  if (failed == 0) return;
  (*body_)();
  body_.reset();
}

}  // namespace kenaz

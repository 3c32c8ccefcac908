// CHECK tests an invariant of our own, in release builds too. One that fails is a bug in Kenaz and
// ends the process, so whether it holds must never depend on input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace kenaz {
[[noreturn]] inline void check_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
  std::abort();
}
}  // namespace kenaz

#define CHECK(cond) \
  (static_cast<bool>(cond) ? void(0) : ::kenaz::check_failed(__FILE__, __LINE__, #cond))
#define UNREACHABLE(what) ::kenaz::check_failed(__FILE__, __LINE__, what)

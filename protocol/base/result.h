// Result<T>: a value or an Error. Expected failures (bad input, a program that fails, no memory)
// are returned as values; no exception crosses a folder.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace kenaz {

enum class ErrorKind {
  kBadRequest,      // the client asked for something that cannot be done
  kNoSuchFile,      // of reading a file: there is none
  kProgramFailure,  // the Futhark program failed while running (bounds, assert, ...)
  kCompile,         // the program text was rejected; `message` holds rendered diagnostics
  kOutOfMemory,     // host or device
  kDeviceLost,
  kInternal,  // a limit or a bug in Kenaz
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::vector<std::string> context;  // innermost first: "while restoring x", ...

  /// The message and its context, one per line.
  std::string text() const {
    std::string s = message;
    for (const auto& c : context) s += "\n" + c;
    return s;
  }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message), {}});
}
inline tl::unexpected<Error> bad_request(std::string m) {
  return fail(ErrorKind::kBadRequest, std::move(m));
}
inline tl::unexpected<Error> internal_error(std::string m) {
  return fail(ErrorKind::kInternal, std::move(m));
}

}  // namespace kenaz

/// Evaluates a Status or Result; returns its error from the enclosing function.
#define KENAZ_TRY(expr)                                                         \
  do {                                                                          \
    auto kenaz_try_ = (expr);                                                   \
    if (!kenaz_try_) return tl::make_unexpected(std::move(kenaz_try_).error()); \
  } while (false)

#define KENAZ_CONCAT_(a, b) a##b
#define KENAZ_CONCAT(a, b) KENAZ_CONCAT_(a, b)
/// KENAZ_ASSIGN(auto x, f()): sets x to the value of f(), or returns the error of f().
#define KENAZ_ASSIGN(decl, expr) KENAZ_ASSIGN_(KENAZ_CONCAT(kenaz_r_, __LINE__), decl, expr)
#define KENAZ_ASSIGN_(tmp, decl, expr)                                       \
  auto tmp = (expr);                                                         \
  if (!tmp) return tl::make_unexpected(std::move(tmp).error()); /* NOLINT */ \
  decl = std::move(*tmp)

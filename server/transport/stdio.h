// The protocol over a pair of pipes.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "server/session/session.h"

namespace kenaz {

/// Lines, and bytes between them, from a file descriptor.
class LineReader {
 public:
  enum class Line { kLine, kTooLong, kEnd };

  explicit LineReader(int fd, size_t max_line = protocol::kMaxLine)
      : fd_(fd), max_line_(max_line) {}
  /// The next line, without its newline; waits for it. A line that is too long is skipped to its
  /// end. The last line may lack its newline.
  Line next(std::string& line);
  /// Some of the next bytes, at least one; 0 at the end.
  size_t read(std::span<std::byte> out);
  /// Before it next waits for input, it asks for it this long without sleeping: a thread that wakes
  /// up, on a processor that slept too, takes twice as long for its next call of the device.
  void expect_soon(std::chrono::microseconds patience) { patience_ = patience; }

 private:
  bool refill();
  ssize_t read_some(void* out, size_t bytes);

  const int fd_;
  const size_t max_line_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  std::chrono::microseconds patience_{0};
};

/// Says that the server is ready, then answers commands until the input ends. False if the client
/// no longer reads, or sent something after which nobody knows where the next command starts.
bool serve_lines(Session& session, int in, int out, size_t max_line = protocol::kMaxLine);

}  // namespace kenaz

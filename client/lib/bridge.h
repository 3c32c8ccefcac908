// What makes a server somewhere else look like a server executable here.
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"

namespace kenaz::client {

/// Lines, and the bytes between them, from a file descriptor.
class LineInput {
 public:
  explicit LineInput(int fd) : fd_(fd) {}
  /// The next line without its newline, waiting for it; false at the end. The last one may lack
  /// its newline.
  bool next(std::string& line);
  /// Some of the bytes that come next; 0 at the end.
  size_t read(std::span<char> out);

 private:
  bool refill();

  const int fd_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

/// Carries out one command for somebody who sees this machine's files, not the server's. Not for
/// `upload` and `download`.
Result<protocol::Reply> execute_here(Connection& server, const std::string& line);

/// Greets, then carries out the commands that come from `in` until it ends; replies go to `out`.
/// An error: the server is gone, or nobody reads `out`.
Status run_bridge(Connection& server, int in, int out);

}  // namespace kenaz::client

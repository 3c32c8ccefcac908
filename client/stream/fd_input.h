// Bytes from a file descriptor, by a thread that another one can call back from its waiting.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "protocol/base/result.h"

namespace kenaz::stream {

class FdInput {
 public:
  /// `fd` stays the caller's, and open for as long as this lives. `name` begins messages: "standard
  /// input".
  FdInput(int fd, std::string name);
  ~FdInput();
  FdInput(const FdInput&) = delete;
  FdInput& operator=(const FdInput&) = delete;

  const std::string& name() const { return name_; }
  /// Waits for bytes. Returns how many it has put into `out`: 0 at the end, after `stop`, and from
  /// then on.
  Result<size_t> read_some(std::span<std::byte> out);
  /// The same until `out` is full, or up to the end. `have` becomes the number of bytes, also where
  /// it fails.
  Status read_fully(std::span<std::byte> out, size_t& have);
  /// By any thread: reading ends here.
  void stop();

 private:
  const int fd_;
  const int wake_;  // an eventfd that is readable once stop has been called
  const std::string name_;
  bool ended_ = false;
};

}  // namespace kenaz::stream

// Memory that this process shares with a server on the same machine, so that the bytes of values
// need not go through a pipe or a socket.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "protocol/base/result.h"

namespace kenaz::client {

/// Pages are taken when they are first used.
class SharedMemory {
 public:
  static Result<std::unique_ptr<SharedMemory>> make(size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  /// Where other processes of this user can open it, as long as this one lives.
  std::string path() const;

 private:
  SharedMemory(int fd, std::span<std::byte> bytes) : fd_(fd), bytes_(bytes) {}

  const int fd_;
  const std::span<std::byte> bytes_;
};

}  // namespace kenaz::client

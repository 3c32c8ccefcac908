// Host bytes on their way to the device in order with its commands: argument lists that kernels
// read in place, and the source of small writes. Chunks of mapped memory, filled from the front;
// a chunk is used again when the commands that read it have run.
#pragma once

#include <deque>
#include <span>

#include "server/device/vulkan/buffer.h"
#include "server/device/vulkan/commands.h"

namespace kenaz::device::vulkan {

class Stash {
 public:
  static constexpr int64_t kMax = int64_t{64} << 10;  // bytes at a time

  explicit Stash(ContextPtr context) : context_(std::move(context)) {}

  struct Place {
    VkBuffer buffer = VK_NULL_HANDLE;
    int64_t offset = 0;
    uint64_t address = 0;
  };
  /// The copy is good for commands recorded before the next submit.
  Result<Place> put(Commands& commands, std::span<const std::byte> data);

 private:
  struct Chunk {
    Buffer buffer;
    int64_t used = 0;
    Ticket ticket = 0;  // the last submission that reads it
  };
  Result<Chunk*> chunk_with_room(Commands& commands, int64_t bytes);

  const ContextPtr context_;
  std::deque<Chunk> chunks_;
  size_t current_ = 0;
};

}  // namespace kenaz::device::vulkan

// A buffer with its own memory, as slabs, stash and staging are made of.
#pragma once

#include <cstddef>
#include <span>

#include "server/device/vulkan/context.h"

namespace kenaz::device::vulkan {

/// Where a buffer's memory should be, given what it is for.
enum class Placement {
  kDevice,  // kernels' data; host-visible too where that costs nothing (CPU, integrated)
  kStash,   // written by the host in order, read by kernels: device memory behind a window if any
  kShared,  // device memory behind a window, and nothing else
  kMail,    // written by kernels, a few bytes, and read by the host: host memory, cached
  kStaging  // bulk transfers, both ways: host memory, cached
};

struct Buffer {
  OwnedMemory memory;  // goes after the buffer
  OwnedBuffer buffer;
  uint64_t address = 0;
  int64_t size = 0;
  std::byte* mapped = nullptr;  // null: the host cannot reach it
  bool coherent = true;

  /// Make host writes visible to the device, or the reverse. Nothing to do if coherent.
  Status flush(const Context& context) const;
  Status invalidate(const Context& context) const;

  static Result<Buffer> create(const ContextPtr& context, int64_t size, Placement placement);
};

/// Whether kernels' data is mapped (cached) on this device, so that transfers are plain copies.
bool device_memory_is_mapped(const PhysicalDevice& device);

/// Whether there is memory for Placement::kShared.
bool has_shared_memory(const PhysicalDevice& device);

}  // namespace kenaz::device::vulkan

// Launches and barriers that are not in a command buffer yet, as values: what is the same as
// something recorded before can be submitted again without being recorded.
#pragma once

#include <span>
#include <vector>

#include "server/device/vulkan/kernels.h"
#include "server/device/vulkan/timing.h"

namespace kenaz::device::vulkan {

using VulkanKernelPtr = std::shared_ptr<const VulkanKernel>;

/// Orders everything recorded before against everything after: kernels, copies, and (to_host) what
/// the host reads once it has waited.
void record_barrier(const Context& context, VkCommandBuffer commands, bool to_host);

/// The workgroups of a launch: `y` rows of `x` from row `first_row` on.
struct Grid {
  uint32_t x = 0, y = 0, first_row = 0;
  friend bool operator==(const Grid&, const Grid&) = default;
};

class Tape {
 public:
  /// `push` is copied; the kernel lives as long as this holds it. `bytes`: what is told of it if it
  /// is timed.
  void dispatch(VulkanKernelPtr kernel, const Grid& grid, std::span<const std::byte> push,
                const LaunchBytes& bytes);
  void barrier(bool to_host);
  bool empty() const { return steps_.empty(); }
  /// Keeps the capacity.
  void clear();
  /// Records all of it; `timing` may be null.
  void play(const Context& context, VkCommandBuffer commands, Timing* timing) const;

  /// The same commands with the same arguments.
  friend bool operator==(const Tape&, const Tape&) = default;

 private:
  struct Step {
    const VulkanKernel* kernel = nullptr;  // null: a barrier
    Grid grid;                             // a barrier's x: whether to the host
    LaunchBytes bytes;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps_;
  std::vector<std::byte> pushes_;         // of the launches, one after the other
  std::vector<VulkanKernelPtr> kernels_;  // of the launches, without repetitions in a row
};

}  // namespace kenaz::device::vulkan

// How long kernels run, by time stamps of the device: one pool of queries for each command buffer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "server/device/vulkan/context.h"

namespace kenaz::device::vulkan {

/// Of the dispatches in one command buffer, and of all that is recorded in it, which comes first
/// among the times and has no name.
class Timing {
 public:
  explicit Timing(ContextPtr context) : context_(std::move(context)) {}

  /// At the beginning of a command buffer.
  Status begin(VkCommandBuffer commands);
  void before_dispatch(VkCommandBuffer commands, std::shared_ptr<const KernelLabel> kernel,
                       const LaunchBytes& bytes);
  void after_dispatch(VkCommandBuffer commands);
  /// At its end.
  void end(VkCommandBuffer commands);
  /// Once the commands have run; what was recorded is forgotten. Times begin at the stamp `origin`,
  /// which is set to the first one if it is null.
  void take(std::vector<KernelTime>& times, std::optional<uint64_t>& origin);

 private:
  void stamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage);

  const ContextPtr context_;
  OwnedQueryPool pool_;                 // made when first used
  uint32_t stamps_ = 0;                 // recorded
  std::vector<KernelTime> dispatches_;  // recorded; their times are not known
};

}  // namespace kenaz::device::vulkan

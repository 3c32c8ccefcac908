// How long kernels run, by time stamps of the device: one pool of queries for each command buffer.
#pragma once

#include <memory>
#include <string>
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
  void before_dispatch(VkCommandBuffer commands, std::shared_ptr<const std::string> name);
  void after_dispatch(VkCommandBuffer commands);
  /// At its end.
  void end(VkCommandBuffer commands);
  /// Once the commands have run; what was recorded is forgotten.
  void take(std::vector<KernelTime>& times);

 private:
  void stamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage);

  const ContextPtr context_;
  OwnedQueryPool pool_;  // made when first used
  uint32_t stamps_ = 0;  // recorded
  std::vector<std::shared_ptr<const std::string>> names_;
};

}  // namespace kenaz::device::vulkan

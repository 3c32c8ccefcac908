// The Vulkan instance, with the validation layer and its messenger if wanted.
#pragma once

#include <memory>

#include "server/device/vulkan/functions.h"
#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::device::vulkan {

class Instance {
 public:
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<ValidationLog> validation,
                                                  std::shared_ptr<VulkanFaults> faults);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return instance_; }
  const Functions& functions() const { return functions_; }

 private:
  Instance() = default;
  Status create_instance();
  Status create_messenger();
  Status require_validation_layer() const;

  Library library_;
  Functions functions_;
  std::shared_ptr<ValidationLog> validation_;
  std::shared_ptr<VulkanFaults> faults_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace kenaz::device::vulkan

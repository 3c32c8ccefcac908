#include "server/device/vulkan/context.h"

#include <fmt/format.h>

#include "server/device/vulkan/driver_globals.h"

namespace kenaz::device {

namespace vulkan {

Result<std::shared_ptr<Context>> Context::create(const VulkanOptions& options,
                                                 std::shared_ptr<Instance> instance) {
  std::shared_ptr<Context> self(new Context);
  self->instance_ = std::move(instance);
  KENAZ_ASSIGN(self->physical_, choose_device(*self->instance_, options.device));
  self->physical_.may_map = !options.force_staging;
  self->physical_.tells_code = self->physical_.tells_code && options.kernel_code;
  self->vk_ = self->instance_->functions();
  KENAZ_TRY(self->create_device());
  return self;
}

Status Context::create_device() {
  FeatureChain features;
  wanted_features(physical_, features);
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = physical_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  if (physical_.subgroup_size_control) {
    extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
  if (physical_.float_atomics) extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  if (physical_.tells_code) {
    extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  }
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const DriverGlobals not_ours;
  KENAZ_TRY(
      check_vk(vk_.vkCreateDevice(physical_.handle, &info, nullptr, &device_), "vkCreateDevice"));
  KENAZ_TRY(vk_.load_device(device_));
  vk_.vkGetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
  return {};
}

void Context::abandon() const {
  if (abandoned_.exchange(true)) return;
  const DriverGlobals not_ours;
  // Kept by itself, and with it the device, the instance and the driver.
  static_cast<void>(new std::shared_ptr<const Context>(shared_from_this()));
}

bool Context::abandoned() const { return abandoned_.load(); }

Context::~Context() {
  if (device_ != VK_NULL_HANDLE && vk_.vkDestroyDevice) {
    vk_.vkDestroyDevice(device_, nullptr);
  }
}

}  // namespace vulkan

Result<std::vector<std::string>> list_vulkan_devices() {
  KENAZ_ASSIGN(auto instance, vulkan::Instance::create(nullptr, nullptr));
  KENAZ_ASSIGN(auto devices, vulkan::list_devices(*instance));
  std::vector<std::string> lines;
  for (const auto& d : devices) lines.push_back(d.description());
  return lines;
}

Result<std::vector<std::string>> usable_vulkan_devices() {
  KENAZ_ASSIGN(auto instance, vulkan::Instance::create(nullptr, nullptr));
  KENAZ_ASSIGN(auto devices, vulkan::list_devices(*instance));
  std::vector<std::string> gpus, others;
  for (const auto& d : devices) {
    if (!d.missing.empty()) continue;
    (d.info.is_cpu ? others : gpus).push_back(fmt::format("#{}", d.index));
  }
  if (gpus.empty()) gpus.swap(others);
  if (gpus.empty()) return bad_request("no Vulkan device here can be used");
  return gpus;
}

}  // namespace kenaz::device

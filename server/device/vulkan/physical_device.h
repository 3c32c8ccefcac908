// Finding out what the machine's Vulkan devices can do, and choosing one.
#pragma once

#include <string>
#include <vector>

#include "server/device/device.h"
#include "server/device/vulkan/instance.h"

namespace kenaz::device::vulkan {

struct PhysicalDevice;

/// The features that Kenaz uses, as structures that can be handed to vkCreateDevice. Not copyable:
/// `chain` links them by address.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};

  FeatureChain() = default;
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;
  /// Links those that this device knows.
  void chain(const PhysicalDevice& device);
};

inline constexpr uint32_t kNvidia = 0x10de;  // PhysicalDevice::vendor_id

/// What is known of one device. A plain value.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  int index = 0;  // in the driver's list
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  uint32_t queue_family = 0;
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  uint8_t device_uuid[VK_UUID_SIZE] = {}, driver_uuid[VK_UUID_SIZE] = {};
  uint8_t cache_uuid[VK_UUID_SIZE] = {};
  VkPhysicalDeviceMemoryProperties memory{};
  VkDeviceSize non_coherent_atom = 1;
  uint32_t timestamp_bits = 0;  // 0: no time stamps
  double timestamp_ns = 1;      // between two values of a time stamp
  // Optional features that the device has.
  bool float64 = false, float16 = false, int64_atomics = false, shared_int64_atomics = false;
  bool subgroup_types = false;  // subgroup operations on all types, 64-bit integers among them
  bool device_scope = false;
  bool may_map = true;                 // VulkanOptions::force_staging is off
  bool subgroup_size_control = false;  // the extension, with compute among its stages
  bool float_atomics = false;          // the extension
  bool tells_code =
      false;  // what its compiler made of a kernel (VK_KHR_pipeline_executable_properties)
  uint32_t min_subgroup = 0, max_subgroup = 0;  // with subgroup_size_control
  Info info;
  std::vector<std::string> missing;  // required features that it lacks; empty: usable
  std::string description() const;   // "#0 NAME (discrete GPU, ...)"
};

Result<std::vector<PhysicalDevice>> list_devices(const Instance& instance);
/// The one that `selector` (VulkanOptions::device) means.
Result<PhysicalDevice> choose_device(const Instance& instance, const std::string& selector);
/// Fills a chain with what is required and what of the optional this device has.
void wanted_features(const PhysicalDevice& device, FeatureChain& chain);

}  // namespace kenaz::device::vulkan

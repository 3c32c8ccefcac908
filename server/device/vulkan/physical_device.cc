#include "server/device/vulkan/physical_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "server/device/vulkan/driver_globals.h"

namespace kenaz::device::vulkan {

namespace {

// REQUIRED(part of FeatureChain, member)
#define REQUIRED_FEATURES(REQUIRED)       \
  REQUIRED(core.features, shaderInt64)    \
  REQUIRED(core.features, shaderInt16)    \
  REQUIRED(v11, storageBuffer16BitAccess) \
  REQUIRED(v12, storageBuffer8BitAccess)  \
  REQUIRED(v12, shaderInt8)               \
  REQUIRED(v12, bufferDeviceAddress)      \
  REQUIRED(v12, scalarBlockLayout)        \
  REQUIRED(v12, vulkanMemoryModel)        \
  REQUIRED(v12, timelineSemaphore)

constexpr int64_t kGroupsAtOnce = 1 << 15;  // of a CPU
constexpr VkDeviceSize kNoLimit = VkDeviceSize{1} << 62;

std::string type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete GPU";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated GPU";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual GPU";
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return "CPU";
    default: return "other";
  }
}

int type_rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return 1;
    default: return 0;
  }
}

std::string lower_case(std::string s) {
  for (char& c : s) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return s;
}

bool has_extension(const Functions& vk, VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  if (vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) {
    return false;
  }
  std::vector<VkExtensionProperties> all(count);
  const VkResult r = vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data());
  if (r != VK_SUCCESS && r != VK_INCOMPLETE) return false;
  return std::any_of(all.begin(), all.end(), [&](const VkExtensionProperties& e) {
    return std::strcmp(e.extensionName, name) == 0;
  });
}

/// A family that computes, by preference one without graphics: its submits are quicker.
void find_queue_family(const Functions& vk, PhysicalDevice& d) {
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(d.handle, &count, families.data());
  int best = -1;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0) continue;
    const bool pure = (flags & VK_QUEUE_GRAPHICS_BIT) == 0;
    if (best >= 0 && !pure) continue;
    if (best >= 0 && (families[best].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) continue;
    best = static_cast<int>(i);
  }
  if (best < 0) {
    d.missing.push_back("a queue that computes");
    return;
  }
  d.queue_family = static_cast<uint32_t>(best);
  d.timestamp_bits = families[best].timestampValidBits;
}

void read_features(const Functions& vk, PhysicalDevice& d) {
  FeatureChain has;
  has.chain(d);
  vk.vkGetPhysicalDeviceFeatures2(d.handle, &has.core);
#define REQUIRED(part, member) \
  if (!has.part.member) d.missing.push_back(#member);
  REQUIRED_FEATURES(REQUIRED)
#undef REQUIRED
  d.float64 = has.core.features.shaderFloat64;
  d.float16 = has.v12.shaderFloat16;
  d.int64_atomics = has.v12.shaderBufferInt64Atomics;
  d.shared_int64_atomics = has.v12.shaderSharedInt64Atomics;
  if (d.float_atomics) {
    d.info.float32_atomic_add = has.float_atomics.shaderBufferFloat32AtomicAdd;
    d.info.float64_atomic_add = has.float_atomics.shaderBufferFloat64AtomicAdd;
    d.info.shared_float32_atomic_add = has.float_atomics.shaderSharedFloat32AtomicAdd;
    d.info.shared_float64_atomic_add = has.float_atomics.shaderSharedFloat64AtomicAdd;
  }
  d.tells_code = d.tells_code && has.executables.pipelineExecutableInfo;
  d.subgroup_types = has.v12.shaderSubgroupExtendedTypes;
  d.device_scope = has.v12.vulkanMemoryModelDeviceScope;
  d.subgroup_size_control = d.subgroup_size_control && has.subgroup_size.subgroupSizeControl;
}

void fill_info(PhysicalDevice& d, const VkPhysicalDeviceProperties& core,
               const VkPhysicalDeviceVulkan11Properties& v11,
               const VkPhysicalDeviceVulkan12Properties& v12, VkDeviceSize max_buffer) {
  Info& info = d.info;
  info.name = core.deviceName;
  info.driver = fmt::format("{} {}", v12.driverName, v12.driverInfo);
  info.subgroup_size = v11.subgroupSize;
  d.timestamp_ns = core.limits.timestampPeriod;
  info.max_groups_x = core.limits.maxComputeWorkGroupCount[0];
  info.max_groups_y = core.limits.maxComputeWorkGroupCount[1];
  info.max_group_size =
      std::min(core.limits.maxComputeWorkGroupInvocations, core.limits.maxComputeWorkGroupSize[0]);
  info.shared_bytes = core.limits.maxComputeSharedMemorySize;
  info.max_push_bytes = core.limits.maxPushConstantsSize;
  info.max_block_bytes =
      static_cast<int64_t>(std::min({v11.maxMemoryAllocationSize, max_buffer, kNoLimit}));
  info.is_cpu = d.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  if (info.is_cpu) info.groups_at_once = kGroupsAtOnce;
  info.cuts_loops = info.joins_loads = v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  // llvmpipe keeps the masks of 80 conditions and ignores, silently, those that are nested deeper.
  if (info.cuts_loops) info.max_nesting = 75;
  info.float64 = d.float64;
  info.float16 = d.float16;
  info.int64_atomics = d.int64_atomics;
  info.shared_int64_atomics = d.shared_int64_atomics;
  // Vulkan makes no promise. NVIDIA's GPUs never take a workgroup from where it runs for another
  // one of the same queue; llvmpipe may have fewer threads than workgroups that wait for others.
  info.forward_progress = core.vendorID == kNvidia && !info.is_cpu;
  // As CUB counts on, whose tiles have no other numbers.
  info.starts_in_order = info.forward_progress;
  constexpr VkSubgroupFeatureFlags kOperations =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
      VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT;
  info.subgroup_arithmetic = d.subgroup_types &&
                             (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                             (v11.subgroupSupportedOperations & kOperations) == kOperations;
}

PhysicalDevice read_device(const Functions& vk, VkPhysicalDevice handle, int index) {
  PhysicalDevice d;
  d.handle = handle;
  d.index = index;
  VkPhysicalDeviceProperties2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  vk.vkGetPhysicalDeviceProperties2(handle, &core);
  d.type = core.properties.deviceType;
  d.info.name = core.properties.deviceName;
  if (core.properties.apiVersion < VK_API_VERSION_1_2) {
    d.missing.push_back(fmt::format("Vulkan 1.2 (it has {}.{})",
                                    VK_API_VERSION_MAJOR(core.properties.apiVersion),
                                    VK_API_VERSION_MINOR(core.properties.apiVersion)));
    return d;  // the structures below are not known to it
  }
  d.subgroup_size_control = has_extension(vk, handle, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  d.float_atomics = has_extension(vk, handle, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  d.tells_code = has_extension(vk, handle, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  const bool has_max_buffer = has_extension(vk, handle, VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  VkPhysicalDeviceVulkan11Properties v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroup{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceMaintenance4Properties maintenance4{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
  core.pNext = &v11;
  v11.pNext = &v12;
  void** tail = &v12.pNext;
  if (d.subgroup_size_control) {
    *tail = &subgroup;
    tail = &subgroup.pNext;
  }
  if (has_max_buffer) *tail = &maintenance4;
  vk.vkGetPhysicalDeviceProperties2(handle, &core);
  vk.vkGetPhysicalDeviceMemoryProperties(handle, &d.memory);
  find_queue_family(vk, d);
  read_features(vk, d);
  d.vendor_id = core.properties.vendorID;
  d.device_id = core.properties.deviceID;
  d.driver_version = core.properties.driverVersion;
  std::memcpy(d.cache_uuid, core.properties.pipelineCacheUUID, VK_UUID_SIZE);
  std::memcpy(d.device_uuid, v11.deviceUUID, VK_UUID_SIZE);
  std::memcpy(d.driver_uuid, v11.driverUUID, VK_UUID_SIZE);
  d.non_coherent_atom = core.properties.limits.nonCoherentAtomSize;
  d.subgroup_size_control = d.subgroup_size_control && (subgroup.requiredSubgroupSizeStages &
                                                        VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  d.min_subgroup = subgroup.minSubgroupSize;
  d.max_subgroup = subgroup.maxSubgroupSize;
  // Where the driver could choose, pipelines ask for the size.
  d.info.fixed_subgroups = d.subgroup_size_control;
  fill_info(d, core.properties, v11, v12, has_max_buffer ? maintenance4.maxBufferSize : kNoLimit);
  return d;
}

bool is_named(const PhysicalDevice& d, const std::string& selector) {
  if (selector.starts_with('#')) return fmt::format("#{}", d.index) == selector;
  if (lower_case(selector) == "cpu" && d.type == VK_PHYSICAL_DEVICE_TYPE_CPU) return true;
  return lower_case(d.info.name).find(lower_case(selector)) != std::string::npos;
}

}  // namespace

void FeatureChain::chain(const PhysicalDevice& device) {
  core.pNext = &v11;
  v11.pNext = &v12;
  void** tail = &v12.pNext;
  const auto link = [&](auto& part) {
    *tail = &part;
    tail = &part.pNext;
  };
  if (device.subgroup_size_control) link(subgroup_size);
  if (device.float_atomics) link(float_atomics);
  if (device.tells_code) link(executables);
  *tail = nullptr;
}

std::string PhysicalDevice::description() const {
  std::string s = fmt::format("#{} {} ({}", index, info.name, type_name(type));
  if (!info.driver.empty()) s += ", " + info.driver;
  s += ")";
  if (!missing.empty()) s += fmt::format(": lacks {}", fmt::join(missing, ", "));
  return s;
}

Result<std::vector<PhysicalDevice>> list_devices(const Instance& instance) {
  const DriverGlobals not_ours;
  const Functions& vk = instance.functions();
  uint32_t count = 0;
  KENAZ_TRY(check_vk(vk.vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr),
                     "vkEnumeratePhysicalDevices"));
  std::vector<VkPhysicalDevice> handles(count);
  const VkResult r = vk.vkEnumeratePhysicalDevices(instance.handle(), &count, handles.data());
  if (r != VK_INCOMPLETE) KENAZ_TRY(check_vk(r, "vkEnumeratePhysicalDevices"));
  handles.resize(count);
  std::vector<PhysicalDevice> devices;
  for (VkPhysicalDevice handle : handles) {
    devices.push_back(read_device(vk, handle, static_cast<int>(devices.size())));
  }
  return devices;
}

Result<PhysicalDevice> choose_device(const Instance& instance, const std::string& selector) {
  KENAZ_ASSIGN(const std::vector<PhysicalDevice> devices, list_devices(instance));
  const PhysicalDevice* best = nullptr;
  std::string all;
  for (const PhysicalDevice& d : devices) {
    all += "\n  " + d.description();
    if (!selector.empty() && !is_named(d, selector)) continue;
    if (!d.missing.empty()) continue;
    if (best == nullptr || type_rank(d.type) > type_rank(best->type)) best = &d;
  }
  if (best != nullptr) return *best;
  if (devices.empty()) return bad_request("there is no Vulkan device on this machine");
  if (selector.empty()) return bad_request("no Vulkan device here can be used:" + all);
  return bad_request(
      fmt::format("no usable Vulkan device is called \"{}\"; there are:{}", selector, all));
}

void wanted_features(const PhysicalDevice& device, FeatureChain& chain) {
#define REQUIRED(part, member) chain.part.member = VK_TRUE;
  REQUIRED_FEATURES(REQUIRED)
#undef REQUIRED
  chain.core.features.shaderFloat64 = device.float64;
  chain.v12.shaderFloat16 = device.float16;
  chain.v12.shaderBufferInt64Atomics = device.int64_atomics;
  chain.v12.shaderSharedInt64Atomics = device.shared_int64_atomics;
  chain.v12.shaderSubgroupExtendedTypes = device.subgroup_types;
  chain.v12.vulkanMemoryModelDeviceScope = device.device_scope;
  chain.subgroup_size.subgroupSizeControl = device.subgroup_size_control;
  chain.float_atomics.shaderBufferFloat32AtomicAdd = device.info.float32_atomic_add;
  chain.float_atomics.shaderBufferFloat64AtomicAdd = device.info.float64_atomic_add;
  chain.float_atomics.shaderSharedFloat32AtomicAdd = device.info.shared_float32_atomic_add;
  chain.float_atomics.shaderSharedFloat64AtomicAdd = device.info.shared_float64_atomic_add;
  chain.executables.pipelineExecutableInfo = device.tells_code;
  chain.chain(device);
}

}  // namespace kenaz::device::vulkan

#include "server/device/vulkan/functions.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace kenaz::device::vulkan {

namespace {
tl::unexpected<Error> missing(const char* name) {
  return internal_error(fmt::format("the Vulkan library has no {}", name));
}
}  // namespace

std::optional<VkResult> fault_due(VulkanFaults& faults) {
  if (faults.calls++ != faults.fail_at) return std::nullopt;
  if (faults.host_memory) return VK_ERROR_OUT_OF_HOST_MEMORY;
  return faults.lose_device ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

Status Functions::load_global(PFN_vkGetInstanceProcAddr get) {
  vkGetInstanceProcAddr = get;
#define VULKAN_GLOBAL(name)              \
  name.set(get(nullptr, #name), faults); \
  if (!name) return missing(#name);
#include "server/device/vulkan/vulkan_functions.def"
  return {};
}

Status Functions::load_instance(VkInstance instance) {
#define VULKAN_INSTANCE_OPTIONAL(name) name.set(vkGetInstanceProcAddr(instance, #name), faults);
#define VULKAN_INSTANCE(name)    \
  VULKAN_INSTANCE_OPTIONAL(name) \
  if (!name) return missing(#name);
#include "server/device/vulkan/vulkan_functions.def"
  return {};
}

Status Functions::load_device(VkDevice device) {
#define VULKAN_DEVICE_OPTIONAL(name) name.set(vkGetDeviceProcAddr(device, #name), faults);
#define VULKAN_DEVICE(name)    \
  VULKAN_DEVICE_OPTIONAL(name) \
  if (!name) return missing(#name);
#include "server/device/vulkan/vulkan_functions.def"
  return {};
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

Result<Library> Library::open(const std::string& name) {
  Library library;
  library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    const char* why = dlerror();
    return bad_request(fmt::format("cannot load {}: {}", name, why != nullptr ? why : "?"));
  }
  return library;
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

std::string vk_result_name(VkResult result) {
  switch (result) {
#define NAME(r) \
  case r: return #r;
    NAME(VK_SUCCESS)
    NAME(VK_NOT_READY)
    NAME(VK_TIMEOUT)
    NAME(VK_INCOMPLETE)
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    NAME(VK_ERROR_INITIALIZATION_FAILED)
    NAME(VK_ERROR_DEVICE_LOST)
    NAME(VK_ERROR_MEMORY_MAP_FAILED)
    NAME(VK_ERROR_LAYER_NOT_PRESENT)
    NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    NAME(VK_ERROR_TOO_MANY_OBJECTS)
    NAME(VK_ERROR_UNKNOWN)
    NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
#undef NAME
    default: return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

Status check_vk(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return {};
  ErrorKind kind = ErrorKind::kInternal;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
      result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_MEMORY_MAP_FAILED) {
    kind = ErrorKind::kOutOfMemory;
  } else if (result == VK_ERROR_DEVICE_LOST) {
    kind = ErrorKind::kDeviceLost;
  }
  return fail(kind, fmt::format("{} failed: {}", call, vk_result_name(result)));
}

}  // namespace kenaz::device::vulkan

// The Vulkan library, loaded when it is first wanted, and the table of its functions. Nothing in
// Kenaz links against libvulkan: a machine without it gets a message instead of a loader error.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <string>

#include "protocol/base/result.h"

namespace kenaz::device::vulkan {

struct Functions {
#define VULKAN_GLOBAL(name) PFN_##name name = nullptr;
#define VULKAN_INSTANCE(name) PFN_##name name = nullptr;
#define VULKAN_INSTANCE_OPTIONAL(name) PFN_##name name = nullptr;
#define VULKAN_DEVICE(name) PFN_##name name = nullptr;
#include "server/device/vulkan/vulkan_functions.def"
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;

  /// Each fills its part of the table; an error names the function that is missing.
  Status load_global(PFN_vkGetInstanceProcAddr get);
  Status load_instance(VkInstance instance);
  Status load_device(VkDevice device);
};

/// An open shared library; closed with the object.
class Library {
 public:
  Library() = default;
  Library(Library&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Library();

  static Result<Library> open(const std::string& name);
  void* symbol(const char* name) const;

 private:
  void* handle_ = nullptr;
};

/// Turns a failed Vulkan call into an error that names the call.
Status check_vk(VkResult result, const char* call);
std::string vk_result_name(VkResult result);

}  // namespace kenaz::device::vulkan

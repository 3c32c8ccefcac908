// The Vulkan library, loaded when it is first wanted, and the table of its functions. Nothing in
// Kenaz links against libvulkan: a machine without it gets a message instead of a loader error.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <optional>
#include <string>
#include <type_traits>

#include "protocol/base/result.h"
#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::device::vulkan {

/// Says what the call that is about to be made returns instead, if a fault is due.
std::optional<VkResult> fault_due(VulkanFaults& faults);

/// A Vulkan function. Called like one; may be made to fail.
template <class Pointer>
class Call;
template <class R, class... A>
class Call<R(VKAPI_PTR*)(A...)> {
 public:
  void set(PFN_vkVoidFunction function, VulkanFaults* faults) {
    function_ = reinterpret_cast<R(VKAPI_PTR*)(A...)>(function);
    faults_ = faults;
  }
  explicit operator bool() const { return function_ != nullptr; }
  R operator()(A... args) const {
    if constexpr (std::is_same_v<R, VkResult>) {
      if (faults_ != nullptr) {
        if (const auto result = fault_due(*faults_)) return *result;
      }
    }
    return function_(args...);
  }

 private:
  R(VKAPI_PTR* function_)(A...) = nullptr;
  VulkanFaults* faults_ = nullptr;  // outlives the table
};

struct Functions {
#define VULKAN_GLOBAL(name) Call<PFN_##name> name;
#define VULKAN_INSTANCE(name) Call<PFN_##name> name;
#define VULKAN_INSTANCE_OPTIONAL(name) Call<PFN_##name> name;
#define VULKAN_DEVICE(name) Call<PFN_##name> name;
#define VULKAN_DEVICE_OPTIONAL(name) Call<PFN_##name> name;
#include "server/device/vulkan/vulkan_functions.def"
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
  VulkanFaults* faults = nullptr;

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

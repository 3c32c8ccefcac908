// The logical device with its queue, and the small handles made from it. Everything below shares
// one Context by shared_ptr, so that memory blocks may outlive the Device that made them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "server/device/vulkan/physical_device.h"

namespace kenaz::device::vulkan {

class Context : public std::enable_shared_from_this<Context> {
 public:
  static Result<std::shared_ptr<Context>> create(const VulkanOptions& options,
                                                 std::shared_ptr<Instance> instance);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Functions& vk() const { return vk_; }
  VkDevice device() const { return device_; }
  /// Held by whoever submits.
  std::mutex& queue_mutex() const { return queue_mutex_; }
  VkQueue queue() const { return queue_; }
  const PhysicalDevice& physical() const { return physical_; }

  /// Commands may run on for ever: from now on nothing made from this is destroyed.
  void abandon() const;
  bool abandoned() const;

 private:
  Context() = default;
  Status create_device();

  std::shared_ptr<Instance> instance_;
  Functions vk_;
  PhysicalDevice physical_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  mutable std::mutex queue_mutex_;
  mutable std::atomic<bool> abandoned_ = false;
};
using ContextPtr = std::shared_ptr<const Context>;

/// Owns one handle made from a Context. `destroy` is the function's place in Functions.
template <class Handle, auto destroy>
class Owned {
 public:
  Owned() = default;
  Owned(ContextPtr context, Handle handle) : context_(std::move(context)), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == nullptr || context_->abandoned()) return;
    (context_->vk().*destroy)(context_->device(), handle_, nullptr);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  ContextPtr context_;
  Handle handle_ = nullptr;
};

using OwnedBuffer = Owned<VkBuffer, &Functions::vkDestroyBuffer>;
using OwnedMemory = Owned<VkDeviceMemory, &Functions::vkFreeMemory>;
using OwnedModule = Owned<VkShaderModule, &Functions::vkDestroyShaderModule>;
using OwnedLayout = Owned<VkPipelineLayout, &Functions::vkDestroyPipelineLayout>;
using OwnedPipeline = Owned<VkPipeline, &Functions::vkDestroyPipeline>;
using OwnedPipelineCache = Owned<VkPipelineCache, &Functions::vkDestroyPipelineCache>;
using OwnedCommandPool = Owned<VkCommandPool, &Functions::vkDestroyCommandPool>;
using OwnedQueryPool = Owned<VkQueryPool, &Functions::vkDestroyQueryPool>;
using OwnedSemaphore = Owned<VkSemaphore, &Functions::vkDestroySemaphore>;

}  // namespace kenaz::device::vulkan

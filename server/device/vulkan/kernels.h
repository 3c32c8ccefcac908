// Compute pipelines out of SPIR-V. Kernels take push constants and nothing else.
#pragma once

#include <map>
#include <mutex>

#include "server/device/device.h"
#include "server/device/vulkan/pipeline_cache.h"

namespace kenaz::device::vulkan {

class VulkanKernel : public Kernel {
 public:
  VulkanKernel(KernelLabel label, std::shared_ptr<OwnedPipeline> pipeline,
               std::shared_ptr<OwnedLayout> layout, uint32_t push_bytes)
      : label_(std::make_shared<const KernelLabel>(std::move(label))),
        pipeline_(std::move(pipeline)),
        layout_(std::move(layout)),
        push_bytes_(push_bytes) {}
  /// With the code of another kernel.
  VulkanKernel(KernelLabel label, const VulkanKernel& code_of)
      : VulkanKernel(std::move(label), code_of.pipeline_, code_of.layout_, code_of.push_bytes_) {}
  const std::shared_ptr<const KernelLabel>& label() const { return label_; }
  VkPipeline pipeline() const { return pipeline_->get(); }
  VkPipelineLayout layout() const { return layout_->get(); }
  uint32_t push_bytes() const { return push_bytes_; }

 private:
  const std::shared_ptr<const KernelLabel> label_;
  std::shared_ptr<OwnedPipeline> pipeline_;  // of all kernels with this code
  std::shared_ptr<OwnedLayout> layout_;
  uint32_t push_bytes_;
};

class Kernels {
 public:  // by any thread
  Kernels(const ContextPtr& context, const std::string& cache_path)
      : context_(context), cache_(context, cache_path) {}
  Result<KernelPtr> make(const KernelSource& source);
  void save() {
    const std::lock_guard lock(mutex_);
    cache_.save();
  }

 private:
  /// With the lock.
  Result<std::shared_ptr<OwnedLayout>> layout(uint32_t push_bytes);
  Result<OwnedModule> module(const KernelSource& source);

  const ContextPtr context_;
  std::mutex mutex_;
  PipelineCache cache_;
  std::map<uint32_t, std::shared_ptr<OwnedLayout>> layouts_;  // by push bytes
};

/// Drivers for CPUs compile a kernel when it is first launched, on the queue's time: this launches
/// nothing, so that they do it now.
Status finish_compiling(const ContextPtr& context, const KernelPtr& kernel);

}  // namespace kenaz::device::vulkan

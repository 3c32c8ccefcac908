#include "server/device/vulkan/tape.h"

namespace kenaz::device::vulkan {

void record_barrier(const Context& context, VkCommandBuffer commands, bool to_host) {
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  VkPipelineStageFlags to = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  const VkPipelineStageFlags from = to;
  if (to_host) {
    to |= VK_PIPELINE_STAGE_HOST_BIT;
    barrier.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
  }
  context.vk().vkCmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Tape::dispatch(VulkanKernelPtr kernel, const Grid& grid, std::span<const std::byte> push,
                    const LaunchBytes& bytes) {
  steps_.push_back({kernel.get(), grid, bytes});
  pushes_.insert(pushes_.end(), push.begin(), push.end());
  if (kernels_.empty() || kernels_.back() != kernel) kernels_.push_back(std::move(kernel));
}

void Tape::barrier(bool to_host) { steps_.push_back({nullptr, {to_host ? 1u : 0u, 0, 0}, {}}); }

void Tape::clear() {
  steps_.clear();
  pushes_.clear();
  kernels_.clear();
}

void Tape::play(const Context& context, VkCommandBuffer commands, Timing* timing) const {
  const Functions& vk = context.vk();
  VkPipeline bound = VK_NULL_HANDLE;
  std::span<const std::byte> pushes(pushes_);
  for (const Step& step : steps_) {
    const VulkanKernel* kernel = step.kernel;
    if (kernel == nullptr) {
      record_barrier(context, commands, step.grid.x != 0);
      continue;
    }
    if (kernel->pipeline() != bound) {
      bound = kernel->pipeline();
      vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
    }
    const auto push = pushes.first(kernel->push_bytes());
    pushes = pushes.subspan(push.size());
    if (!push.empty()) {
      vk.vkCmdPushConstants(commands, kernel->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            kernel->push_bytes(), push.data());
    }
    if (timing != nullptr) timing->before_dispatch(commands, kernel->label(), step.bytes);
    const Grid& grid = step.grid;
    if (grid.first_row == 0) {
      vk.vkCmdDispatch(commands, grid.x, grid.y, 1);
    } else {
      vk.vkCmdDispatchBase(commands, 0, grid.first_row, 0, grid.x, grid.y, 1);
    }
    if (timing != nullptr) timing->after_dispatch(commands);
  }
}

}  // namespace kenaz::device::vulkan

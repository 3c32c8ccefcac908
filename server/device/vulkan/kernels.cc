#include "server/device/vulkan/kernels.h"

#include <fmt/format.h>

#include "server/device/vulkan/commands.h"
#include "server/device/vulkan/kernel_code.h"

namespace kenaz::device::vulkan {

namespace {
constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kSpirvHeaderWords = 5;
}  // namespace

Result<std::shared_ptr<OwnedLayout>> Kernels::layout(uint32_t push_bytes) {
  auto& slot = layouts_[push_bytes];
  if (slot) return slot;
  VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.pushConstantRangeCount = push_bytes == 0 ? 0 : 1;
  info.pPushConstantRanges = &range;
  VkPipelineLayout made = VK_NULL_HANDLE;
  KENAZ_TRY(
      check_vk(context_->vk().vkCreatePipelineLayout(context_->device(), &info, nullptr, &made),
               "vkCreatePipelineLayout"));
  slot = std::make_shared<OwnedLayout>(context_, made);
  return slot;
}

Result<OwnedModule> Kernels::module(const KernelSource& source) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = source.spirv.size_bytes();
  info.pCode = source.spirv.data();
  VkShaderModule made = VK_NULL_HANDLE;
  KENAZ_TRY(check_vk(context_->vk().vkCreateShaderModule(context_->device(), &info, nullptr, &made),
                     "vkCreateShaderModule"));
  return OwnedModule(context_, made);
}

Result<KernelPtr> Kernels::make(const KernelSource& source) {
  KernelLabel label{source.name, source.places.empty() ? "" : source.places[0], {}};
  if (source.code_of) {
    const auto& code_of = static_cast<const VulkanKernel&>(*source.code_of);
    label.code = code_of.label()->code;
    return std::make_shared<VulkanKernel>(std::move(label), code_of);
  }
  const PhysicalDevice& device = context_->physical();
  if (source.spirv.size() < kSpirvHeaderWords || source.spirv[0] != kSpirvMagic) {
    return internal_error(fmt::format("kernel {} is not SPIR-V", source.name));
  }
  if (source.push_bytes > device.info.max_push_bytes || source.push_bytes % 4 != 0) {
    return internal_error(fmt::format("kernel {} wants {} bytes of push constants, of {}",
                                      source.name, source.push_bytes, device.info.max_push_bytes));
  }
  std::unique_lock lock(mutex_);
  KENAZ_ASSIGN(auto pipeline_layout, layout(source.push_bytes));
  const VkPipelineCache cache = cache_.get();
  lock.unlock();  // compiling may take long
  KENAZ_ASSIGN(const OwnedModule shader, module(source));
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  if (device.info.cuts_launches()) info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE;
  if (device.tells_code) info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader.get();
  info.stage.pName = "main";
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < source.constants.size(); ++i) entries.push_back({i, 4 * i, 4});
  const VkSpecializationInfo constants{static_cast<uint32_t>(entries.size()), entries.data(),
                                       source.constants.size_bytes(), source.constants.data()};
  info.stage.pSpecializationInfo = &constants;
  info.layout = pipeline_layout->get();
  // Where the driver could choose among sizes, the one that Info names is made binding.
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  subgroup.requiredSubgroupSize = device.info.subgroup_size;
  if (device.subgroup_size_control && device.min_subgroup != device.max_subgroup) {
    info.stage.pNext = &subgroup;
  }
  VkPipeline made = VK_NULL_HANDLE;
  auto status = check_vk(
      context_->vk().vkCreateComputePipelines(context_->device(), cache, 1, &info, nullptr, &made),
      "vkCreateComputePipelines");
  if (!status) {
    status.error().context.push_back(fmt::format("while preparing kernel {}", source.name));
    return tl::make_unexpected(std::move(status).error());
  }
  auto pipeline = std::make_shared<OwnedPipeline>(context_, made);
  label.code = kernel_code(*context_, made);
  lock.lock();
  cache_.note_new_pipeline();
  return std::make_shared<VulkanKernel>(std::move(label), std::move(pipeline),
                                        std::move(pipeline_layout), source.push_bytes);
}

Status finish_compiling(const ContextPtr& context, const KernelPtr& kernel) {
  const auto* k = static_cast<const VulkanKernel*>(kernel.get());
  const Functions& vk = context->vk();
  Commands own(context);
  KENAZ_ASSIGN(VkCommandBuffer commands, own.recording());
  own.keep(kernel);
  vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, k->pipeline());
  const std::vector<std::byte> zeros(k->push_bytes());
  if (!zeros.empty()) {
    vk.vkCmdPushConstants(commands, k->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, k->push_bytes(),
                          zeros.data());
  }
  vk.vkCmdDispatch(commands, 0, 1, 1);
  return own.finish();
}

}  // namespace kenaz::device::vulkan

#include "server/device/vulkan/kernel_code.h"

#include <vector>

namespace kenaz::device::vulkan {

void note_statistic(KernelCode& code, std::string_view name, uint64_t value) {
  const auto low = static_cast<int64_t>(value & UINT32_MAX);
  if (name == "Register Count" || name == "VGPRs") code.registers = low;
  // NVIDIA's has something else in the upper half (seen in 570).
  if (name == "Local Memory Size") code.spilled_bytes = low;
  if (name == "Spilled VGPRs") code.spilled_bytes = 4 * low;
}

KernelCode kernel_code(const Context& context, VkPipeline pipeline) {
  KernelCode code;
  const auto& get = context.vk().vkGetPipelineExecutableStatisticsKHR;
  if (!context.physical().tells_code || !get) return code;
  const VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr,
                                         pipeline, 0};
  uint32_t count = 0;
  if (get(context.device(), &info, &count, nullptr) != VK_SUCCESS) return code;
  std::vector<VkPipelineExecutableStatisticKHR> all(
      count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
  if (get(context.device(), &info, &count, all.data()) != VK_SUCCESS) return code;
  for (const auto& s : all) {
    if (s.format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR) {
      note_statistic(code, s.name, s.value.u64);
    }
  }
  return code;
}

}  // namespace kenaz::device::vulkan

// What drivers tell of the code that they make for kernels.
#pragma once

#include <string_view>

#include "server/device/device.h"
#include "server/device/vulkan/context.h"

namespace kenaz::device::vulkan {

/// Takes what one statistic says. Each driver has names of its own: those of NVIDIA's, and of
/// Mesa's for AMD, are known, and others say nothing here.
void note_statistic(KernelCode& code, std::string_view name, uint64_t value);

/// Of a pipeline that was made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, of one shader.
/// Nothing where the driver does not tell, or cannot: no call fails for that.
KernelCode kernel_code(const Context& context, VkPipeline pipeline);

}  // namespace kenaz::device::vulkan

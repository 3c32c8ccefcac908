#include "server/device/vulkan/timing.h"

namespace kenaz::device::vulkan {

namespace {
constexpr uint32_t kMostStamps = 1024;  // two for each dispatch and two for the command buffer
}  // namespace

Status Timing::begin(VkCommandBuffer commands) {
  const Functions& vk = context_->vk();
  if (!pool_) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = kMostStamps;
    VkQueryPool pool = VK_NULL_HANDLE;
    KENAZ_TRY(check_vk(vk.vkCreateQueryPool(context_->device(), &info, nullptr, &pool),
                       "vkCreateQueryPool"));
    pool_ = OwnedQueryPool(context_, pool);
  }
  stamps_ = 0;
  dispatches_.clear();
  vk.vkCmdResetQueryPool(commands, pool_.get(), 0, kMostStamps);
  stamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
  return {};
}

void Timing::stamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage) {
  context_->vk().vkCmdWriteTimestamp(commands, stage, pool_.get(), stamps_++);
}

void Timing::before_dispatch(VkCommandBuffer commands, std::shared_ptr<const KernelLabel> kernel,
                             const LaunchBytes& bytes) {
  if (stamps_ == 0 || stamps_ + 3 > kMostStamps) return;
  dispatches_.push_back({std::move(kernel), 0, 0, bytes});
  stamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
}

void Timing::after_dispatch(VkCommandBuffer commands) {
  if (stamps_ == 2 * dispatches_.size()) stamp(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
}

void Timing::end(VkCommandBuffer commands) {
  if (stamps_ > 0) stamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
}

void Timing::take(std::vector<KernelTime>& times, std::optional<uint64_t>& origin) {
  if (stamps_ == 0) return;
  std::vector<uint64_t> at(stamps_);
  const VkResult got = context_->vk().vkGetQueryPoolResults(
      context_->device(), pool_.get(), 0, stamps_, at.size() * sizeof(uint64_t), at.data(),
      sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
  const PhysicalDevice& device = context_->physical();
  const auto microseconds = [&](uint64_t from, uint64_t to) {
    const uint32_t bits = device.timestamp_bits;
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return static_cast<double>((to - from) & mask) * device.timestamp_ns / 1000;
  };
  if (got == VK_SUCCESS) {
    if (!origin) origin = at[0];
    const auto since_origin = [&](uint64_t stamp) { return microseconds(*origin, stamp); };
    times.push_back({nullptr, since_origin(at[0]), microseconds(at[0], at.back()), {}});
    for (size_t n = 0; n < dispatches_.size(); ++n) {
      const uint64_t from = at[2 * n + 1], to = at[2 * n + 2];
      dispatches_[n].begin = since_origin(from);
      dispatches_[n].microseconds = microseconds(from, to);
      times.push_back(std::move(dispatches_[n]));
    }
  }
  stamps_ = 0;
  dispatches_.clear();
}

}  // namespace kenaz::device::vulkan

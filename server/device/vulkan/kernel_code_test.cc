#include "server/device/vulkan/kernel_code.h"

#include <gtest/gtest.h>

namespace kenaz::device::vulkan {
namespace {

TEST(KernelCode, IsReadFromTheStatisticsOfDrivers) {
  KernelCode nvidia;
  note_statistic(nvidia, "Register Count", 168);
  note_statistic(nvidia, "Binary Size", 4096);
  note_statistic(nvidia, "Local Memory Size", (uint64_t{16} << 32) + 48);
  EXPECT_EQ(nvidia.registers, 168);
  EXPECT_EQ(nvidia.spilled_bytes, 48);
  KernelCode amd;
  note_statistic(amd, "SGPRs", 100);
  note_statistic(amd, "VGPRs", 64);
  note_statistic(amd, "Spilled SGPRs", 3);
  note_statistic(amd, "Spilled VGPRs", 2);
  EXPECT_EQ(amd.registers, 64);
  EXPECT_EQ(amd.spilled_bytes, 8);
  KernelCode other;
  note_statistic(other, "Instruction Count", 5);
  EXPECT_FALSE(other.registers);
  EXPECT_FALSE(other.spilled_bytes);
}

}  // namespace
}  // namespace kenaz::device::vulkan

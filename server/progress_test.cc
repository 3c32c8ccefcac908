#include "server/progress.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_target.h"

namespace kenaz {
namespace {

class Progress : public testing::Test {
 protected:
  void SetUp() override {
    device::VulkanOptions options;
    options.device = "cpu";
    auto made = device::make_vulkan_device(options);
    if (!made) GTEST_SKIP() << made.error().text();
    device_ = *made;
  }
  bool passes(const ProgressTest& test) {
    // Where it takes so many threads to fill the device, several workgroups share a scan.
    return scans_in_one_pass(device_, host::device_target(device_->info(), 1 << 18),
                             std::make_shared<const host::KernelCompiler>(), test);
  }
  std::shared_ptr<device::Device> device_;
};

// Workgroups of llvmpipe proceed as long as their thread has a processor. While it has none, others
// wait, and the driver ends their loops after a while: that is a failure, too.
TEST_F(Progress, IsSeenWhereItIs) {
  bool seen = false;
  for (int n = 0; n < 10 && !seen; n++) seen = passes({std::chrono::minutes(5), 20000});
  EXPECT_TRUE(seen);
}

TEST_F(Progress, IsNotSeenWhenTimeIsUp) {
  EXPECT_FALSE(passes({std::chrono::microseconds(1), 20000}));
}

TEST(ProgressNotes, AreOfOneDeviceDriverAndBuild) {
  const std::string folder = testing::TempDir() + "progress_notes";
  std::filesystem::remove_all(folder);
  device::Info info, other;
  info.name = "a device";
  info.driver = "its driver 1";
  other = info;
  other.driver = "its driver 2";
  EXPECT_EQ(ProgressNotes(folder, "build", info).find(), std::nullopt);
  ProgressNotes(folder, "build", info).keep(true);
  ProgressNotes(folder, "build", other).keep(false);
  EXPECT_EQ(ProgressNotes(folder, "build", info).find(), true);
  EXPECT_EQ(ProgressNotes(folder, "build", other).find(), false);
  EXPECT_EQ(ProgressNotes(folder, "next build", info).find(), std::nullopt);
  ProgressNotes("", "build", info).keep(true);
  EXPECT_EQ(ProgressNotes("", "build", info).find(), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kenaz

#include "server/device/vulkan/wake_process.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::device::vulkan {
namespace {

TEST(WakeProcess, IsStartedOnceAndEnded) {
  WakeProcess process({"/bin/cat"});
  EXPECT_EQ(process.pid(), 0);
  process.wake();
  const pid_t pid = process.pid();
  ASSERT_NE(pid, 0);
  process.wake();
  EXPECT_EQ(process.pid(), pid);
  process.end();
  EXPECT_EQ(process.pid(), 0);
  EXPECT_EQ(kill(pid, 0), -1);
  process.wake();
  EXPECT_NE(process.pid(), 0);
}

TEST(WakeProcess, IsReplacedThreeTimes) {
  WakeProcess process({"/bin/true"});
  int started = 0;
  for (int tries = 0; tries < 10; ++tries) {
    const pid_t before = process.pid();
    process.wake();
    if (process.pid() != 0 && process.pid() != before) ++started;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it ends
  }
  EXPECT_EQ(started, 3);
  EXPECT_EQ(process.pid(), 0);
}

TEST(WakeProcess, NeedsNoProgram) {
  WakeProcess process({"/nowhere/none"});
  process.wake();
  EXPECT_EQ(process.pid(), 0);
}

/// Vulkan calls of a process that gets so many bytes.
int64_t calls_for(int requests) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  for (int k = 0; k < requests; ++k) EXPECT_EQ(write(ends[0], "", 1), 1);
  close(ends[0]);
  VulkanOptions options;
  options.device = "cpu";
  options.faults = std::make_shared<VulkanFaults>();
  EXPECT_TRUE(answer_waker(options, ends[1]));
  close(ends[1]);
  return options.faults->calls;
}

TEST(WakeProcess, MakesTheDeviceForEachByte) {
  const int64_t none = calls_for(0), one = calls_for(1);
  EXPECT_GT(one, none);
  EXPECT_EQ(calls_for(3) - none, 3 * (one - none));
}

TEST(WakeProcess, SaysThatThereIsNoSuchDevice) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  EXPECT_EQ(write(ends[0], "", 1), 1);
  VulkanOptions options;
  options.device = "no such device";
  EXPECT_FALSE(answer_waker(options, ends[1]));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace kenaz::device::vulkan

#include "server/host/device_target.h"

#include <gtest/gtest.h>

#include <array>

#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::host {
namespace {

TEST(DeviceTarget, OfADeviceThatPromisesNothingIsTheLeast) {
  const program::Target target = device_target({});
  EXPECT_EQ(target.subgroup_size, 1);
  EXPECT_FALSE(target.subgroup_arithmetic);
  EXPECT_EQ(target.max_group_size, 128);
  EXPECT_LE(target.shared_bytes, 16384 - 16);  // kernels have a word besides their arrays
  EXPECT_FALSE(target.f16 || target.f64 || target.i64_atomics || target.shared_i64_atomics);
  EXPECT_FALSE(target.forward_progress);
  EXPECT_EQ(target.max_turns, 0);
}

TEST(DeviceTarget, OnlyTheInterpreterIsTrustedWithProgress) {
  device::Info info;
  info.forward_progress = true;
  EXPECT_FALSE(device_target(info).forward_progress || device_target(info).interprets);
  info.interprets = true;
  EXPECT_TRUE(device_target(info).forward_progress && device_target(info).interprets);
  EXPECT_FALSE(device_target(info).starts_in_order);
  info.starts_in_order = true;
  EXPECT_TRUE(device_target(info).starts_in_order);
  info.forward_progress = false;
  EXPECT_FALSE(device_target(info).starts_in_order);
}

TEST(DeviceTarget, SubgroupsAreUsedWithArithmeticOnly) {
  device::Info info;
  info.subgroup_size = 32;
  EXPECT_EQ(device_target(info).subgroup_size, 1);
  info.subgroup_arithmetic = true;
  EXPECT_EQ(device_target(info).subgroup_size, 32);
  EXPECT_TRUE(device_target(info).subgroup_arithmetic);
  EXPECT_FALSE(device_target(info).fixed_subgroups);
  info.fixed_subgroups = true;
  EXPECT_TRUE(device_target(info).fixed_subgroups);
  info.subgroup_size = 1;
  EXPECT_FALSE(device_target(info).subgroup_arithmetic);
  EXPECT_FALSE(device_target(info).fixed_subgroups);
}

TEST(DeviceTarget, EveryFactHasItsOwnPlace) {
  device::Info info;
  info.float16 = true;
  EXPECT_TRUE(device_target(info).f16);
  EXPECT_FALSE(device_target(info).f64);
  info = {};
  info.float64 = true;
  EXPECT_TRUE(device_target(info).f64);
  info = {};
  info.int64_atomics = true;
  EXPECT_TRUE(device_target(info).i64_atomics);
  EXPECT_FALSE(device_target(info).shared_i64_atomics);
  info = {};
  info.shared_int64_atomics = true;
  EXPECT_TRUE(device_target(info).shared_i64_atomics);
  EXPECT_FALSE(device_target(info).i64_atomics);
  info = {};
  info.forward_progress = true;
  EXPECT_FALSE(device_target(info).forward_progress);
  info = {};
  info.max_group_size = 1024;
  info.shared_bytes = 49152;
  EXPECT_EQ(device_target(info).max_group_size, 1024);
  EXPECT_GT(device_target(info).shared_bytes, 48000);
}

TEST(DeviceTarget, AtomicSumsOfFloatsAsTheDeviceHasThem) {
  device::Info info;
  info.float32_atomic_add = info.shared_float64_atomic_add = true;
  const auto sums = [](const program::Target& t) {
    return std::array{t.f32_atomic_add, t.f64_atomic_add, t.shared_f32_atomic_add,
                      t.shared_f64_atomic_add};
  };
  EXPECT_EQ(sums(device_target(info, 0, true)), (std::array{true, false, false, true}));
  // A GPU may leave out what is subnormal.
  EXPECT_EQ(sums(device_target(info, 0, false)), (std::array{false, false, false, false}));
  info.is_cpu = true;
  EXPECT_EQ(sums(device_target(info, 0, false)), (std::array{true, false, false, true}));
  info = {};
  info.float64_atomic_add = info.shared_float32_atomic_add = info.interprets = true;
  EXPECT_EQ(sums(device_target(info, 0, false)), (std::array{false, true, true, false}));
}

TEST(DeviceTarget, ProcessorsAreFilledByFewThreads) {
  device::Info cpu;
  cpu.is_cpu = cpu.cuts_loops = true;
  EXPECT_LT(device_target(cpu).threads, device_target({}).threads);
  EXPECT_GT(device_target(cpu).max_turns, 0);
  EXPECT_LT(device_target(cpu).max_turns, 65535);
}

TEST(DeviceTarget, LoadsAreMadeAheadWhereTheDriverJoinsThose) {
  device::Info info;
  info.is_cpu = info.subgroup_arithmetic = true;
  info.subgroup_size = 8;
  EXPECT_FALSE(device_target(info).reads_ahead);
  info.joins_loads = true;
  EXPECT_TRUE(device_target(info).reads_ahead);
  info.subgroup_size = 1;  // there is nothing to join
  EXPECT_FALSE(device_target(info).reads_ahead);
}

TEST(DeviceTarget, Poses) {
  EXPECT_EQ(posed_target("least"), program::Target{});
  EXPECT_GT(posed_target("cpu")->max_turns, 0);
  EXPECT_EQ(posed_target("gpu")->subgroup_size, 32);
  EXPECT_GT(posed_target("gpu")->threads, posed_target("cpu")->threads);
  EXPECT_FALSE(posed_target("watch"));
}

TEST(DeviceTarget, WorkgroupsOfASoftwareDeviceNeedNotProceed) {
  device::VulkanOptions options;
  options.device = "cpu";
  const auto device = device::make_vulkan_device(options);
  if (!device) GTEST_SKIP() << device.error().text();
  const program::Target target = device_target((*device)->info());
  EXPECT_FALSE(target.forward_progress);
  EXPECT_GE(target.max_group_size, 128);
  EXPECT_GE(target.shared_bytes, 16000);
}

}  // namespace
}  // namespace kenaz::host

// What only the Vulkan device does: options, its memory limit, its cache file.
#include "server/device/vulkan/vulkan_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "server/device/vulkan/pipeline_cache.h"
#include "server/device/vulkan/range_pool.h"
#include "test_shaders/add.h"

namespace kenaz::device {
namespace {

using testing::HasSubstr;

TEST(VulkanDevice, UnknownDeviceIsRefusedWithAList) {
  VulkanOptions options;
  options.device = "no such device";
  auto made = make_vulkan_device(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("#0 "));
  options.device = "#1000";
  EXPECT_FALSE(make_vulkan_device(options));
}

TEST(VulkanDevice, IsChosenByNumberAndName) {
  auto all = list_vulkan_devices();
  ASSERT_TRUE(all);
  ASSERT_FALSE(all->empty());
  VulkanOptions options;
  options.device = "#0";
  auto made = make_vulkan_device(options);
  ASSERT_TRUE(made) << made.error().text();
  options.device = (*made)->info().name.substr(1, 5);
  EXPECT_TRUE(make_vulkan_device(options));
}

TEST(VulkanDevice, MemoryLimitIsKeptAndCachedMemoryMakesRoom) {
  VulkanOptions options;
  options.memory_limit = int64_t{100} << 20;
  auto device = make_vulkan_device(options);
  ASSERT_TRUE(device);
  auto first = (*device)->allocate(int64_t{60} << 20);
  ASSERT_TRUE(first);
  auto second = (*device)->allocate(int64_t{60} << 20);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kOutOfMemory);
  first->reset();
  EXPECT_TRUE((*device)->allocate(int64_t{90} << 20));  // no spare slab fits: one must go
}

class CacheFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kenaz_cache_test_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ / "a" / "pipelines";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void run_once() {
    VulkanOptions options;
    options.pipeline_cache = path_;
    auto device = make_vulkan_device(options);
    ASSERT_TRUE(device);
    EXPECT_TRUE((*device)->make_kernel({"add", add_spirv, 48}));
  }
  std::filesystem::path folder_, path_;
};

TEST_F(CacheFile, IsWrittenAndRebuiltWhenBroken) {
  run_once();
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto size = std::filesystem::file_size(path_);
  run_once();
  for (const char* damage : {"", "short",
                             "KNZPIPE1 and then something else altogether, at length "
                             "enough to be taken for a header, which it is not. Or?"}) {
    std::ofstream(path_, std::ios::trunc) << damage;
    run_once();
    EXPECT_EQ(std::filesystem::file_size(path_), size);
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);  // cannot be read or replaced: not fatal
  run_once();
}

TEST(CacheHeader, FitsOnlyItsDeviceAndItsPayload) {
  vulkan::PhysicalDevice device;
  device.driver_version = 5;
  const std::vector<char> payload = {'a', 'b', 'c'};
  const auto file = vulkan::wrap_cache(device, payload);
  EXPECT_EQ(vulkan::unwrap_cache(device, file), payload);
  for (size_t i = 0; i < file.size(); ++i) {
    auto damaged = file;
    damaged[i] ^= 1;
    EXPECT_EQ(vulkan::unwrap_cache(device, damaged), std::nullopt) << i;
  }
  device.driver_version = 6;
  EXPECT_EQ(vulkan::unwrap_cache(device, file), std::nullopt);
}

TEST(RangePool, JoinsNeighboursAndFitsBest) {
  vulkan::RangePool pool;
  pool.add_slab(0, 4096);
  pool.add_slab(1, 1024);
  const auto a = pool.take(512), b = pool.take(512);  // the smaller slab fits better
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->slab, 1);
  EXPECT_EQ(b->slab, 1);
  const auto c = pool.take(4096);
  ASSERT_TRUE(c);
  EXPECT_FALSE(pool.take(256));
  pool.give(*b, 512);
  pool.give(*a, 512);
  EXPECT_TRUE(pool.take(1024));
  pool.give(*a, 1024);
  EXPECT_EQ(pool.remove_free_slabs(), std::vector<int>{1});
  EXPECT_EQ(pool.free_bytes(), 0);
}

TEST(Validation, MisuseIsCountedAndKept) {
  ValidationLog log;
  for (int i = 0; i < 1500; ++i) log.add("bad");
  EXPECT_EQ(log.count(), 1500);
  EXPECT_EQ(log.messages().size(), ValidationLog::kKept);
}

}  // namespace
}  // namespace kenaz::device

// What only the Vulkan device does: options, its memory limit, its cache file.
#include "server/device/vulkan/vulkan_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>

#include "server/device/vulkan/pipeline_cache.h"
#include "server/device/vulkan/range_pool.h"
#include "server/testdata/fault_stride.h"
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

// What was recorded for a call holds addresses: it can be used again if they are the same.
TEST(VulkanDevice, WhoAllocatesTheSameAgainGetsTheSameMemory) {
  auto made = make_vulkan_device({});
  ASSERT_TRUE(made) << made.error().text();
  Device& device = **made;
  for (const int64_t bytes : {int64_t{20} << 20, int64_t{1} << 20, int64_t{64}}) {
    const auto addresses = [&](bool first_goes_first) {
      std::vector<BlockPtr> blocks;
      std::vector<uint64_t> at;
      for (int n = 0; n < 3; ++n) {
        blocks.push_back(*device.allocate(bytes));
        at.push_back(blocks.back()->address());
      }
      if (!first_goes_first) std::reverse(blocks.begin(), blocks.end());
      for (BlockPtr& block : blocks) block.reset();
      return at;
    };
    (void)addresses(true);  // new memory has no order yet
    const auto before = addresses(true);
    EXPECT_EQ(addresses(false), before) << bytes;
    EXPECT_EQ(addresses(true), before) << bytes;
  }
}

// On GPUs this is memory of the host's.
TEST(VulkanDevice, WhatTheHostReadsHoldsZeroesAtFirst) {
  VulkanOptions options;
  options.force_staging = true;
  auto made = make_vulkan_device(options);
  ASSERT_TRUE(made) << made.error().text();
  Device& device = **made;
  const std::array<int64_t, 2> sent = {1, 2};
  for (const uint64_t owner : {1, 2}) {
    device.set_owner(owner);
    auto block = device.allocate_for_host(16);
    ASSERT_TRUE(block);
    std::array<int64_t, 2> got = {-1, -1};
    const ReadBack piece{*block, 0, std::as_writable_bytes(std::span(got))};
    ASSERT_TRUE(device.submit_and_read({&piece, 1}));
    EXPECT_EQ(got, (std::array<int64_t, 2>{0, 0}));
    ASSERT_TRUE(device.upload(*block, 0, std::as_bytes(std::span(sent))));
    ASSERT_TRUE(device.submit_and_read({&piece, 1}));
    EXPECT_EQ(got, sent);
  }
}

TEST(VulkanDevice, ClearingSurvivesAFailedSubmission) {
  const auto keeps_the_driver_loaded = make_vulkan_device({});
  const std::vector<int32_t> secret(1000, 0x5ec2e7);
  const std::vector<int32_t> zeros(1000, 0);
  for (const bool staged : {false, true}) {
    int failed = 0;
    for (int64_t n = 0; n < 12; ++n) {
      VulkanOptions options;
      options.force_staging = staged;
      options.faults = std::make_shared<VulkanFaults>();
      auto device = make_vulkan_device(options);
      ASSERT_TRUE(device);
      (*device)->set_owner(1);
      auto block = (*device)->allocate(4000);
      ASSERT_TRUE(block);
      ASSERT_TRUE((*device)->upload(*block, 0, std::as_bytes(std::span(secret))));
      ASSERT_TRUE((*device)->submit_and_wait());
      block->reset();
      (*device)->set_owner(2);
      block = (*device)->allocate(4000);
      ASSERT_TRUE(block);
      options.faults->fail_at = options.faults->calls + n;
      if (!(*device)->submit_and_wait()) ++failed;
      options.faults->fail_at = -1;
      std::vector<int32_t> seen(1000, 1);
      ASSERT_TRUE((*device)->download(*block, 0, std::as_writable_bytes(std::span(seen))));
      EXPECT_EQ(seen, zeros) << n;
    }
    EXPECT_GT(failed, 0);
  }
}

/// Adds a number to 64 others, and counts what Vulkan is asked for.
class Adder {
 public:
  Adder() {
    options_.validation = std::make_shared<ValidationLog>();
    options_.faults = std::make_shared<VulkanFaults>();
    device_ = make_vulkan_device(options_).value_or(nullptr);
    if (!device_) return;
    kernel_ = *device_->make_kernel({"add", add_spirv, 48});
    for (BlockPtr* block : {&record_, &src_, &dst_}) *block = *device_->allocate(256);
    const std::vector<std::byte> zeros(256);
    EXPECT_TRUE(device_->upload(record_, 0, zeros));
  }
  ~Adder() { EXPECT_THAT(options_.validation->messages(), testing::ElementsAre()); }
  Device& device() { return *device_; }
  std::weak_ptr<Kernel> let_go() { return std::exchange(kernel_, nullptr); }
  /// Vulkan calls, of those that can fail, of a launch and the wait for it.
  int64_t add(const std::vector<int32_t>& data, int64_t k) {
    EXPECT_TRUE(device_->upload(src_, 0, std::as_bytes(std::span(data))));
    EXPECT_TRUE(device_->submit_and_wait());
    const int64_t before = options_.faults->calls;
    const uint64_t slots[] = {
        record_->address(), src_->address(), dst_->address(), 64, static_cast<uint64_t>(k), 1};
    EXPECT_TRUE(device_->dispatch(kernel_, 1, 1, std::as_bytes(std::span(slots))));
    EXPECT_TRUE(device_->submit_and_wait());
    const int64_t calls = options_.faults->calls - before;
    std::vector<int32_t> seen(64), expected(data);
    EXPECT_TRUE(device_->download(dst_, 0, std::as_writable_bytes(std::span(seen))));
    for (int32_t& x : expected) x += static_cast<int32_t>(k);
    EXPECT_EQ(seen, expected);
    return calls;
  }

 private:
  VulkanOptions options_;
  std::shared_ptr<Device> device_;
  KernelPtr kernel_;
  BlockPtr record_, src_, dst_;
};

TEST(VulkanDevice, LaunchesThatComeAgainAreNotRecordedAgain) {
  Adder adder;
  if (!adder.device().info().is_cpu) GTEST_SKIP() << "asks again and again whether it has ended";
  constexpr int64_t kBeginAndEnd = 2;
  const std::vector<int32_t> fives(64, 5), sixes(64, 6);
  adder.add(fives, 1);
  const int64_t again = adder.add(sixes, 1);
  EXPECT_GE(adder.add(sixes, 2), again + kBeginAndEnd);  // another argument
  EXPECT_EQ(adder.add(fives, 1), again);
  EXPECT_EQ(adder.add(fives, 2), again);
  for (int64_t k = 3; k < 100; ++k) EXPECT_GE(adder.add(fives, k), again + kBeginAndEnd);
  EXPECT_EQ(adder.add(fives, 1), again + kBeginAndEnd);  // forgotten
  EXPECT_EQ(adder.add(sixes, 1), again);
  const std::weak_ptr<Kernel> kernel = adder.let_go();
  EXPECT_FALSE(kernel.expired());
  adder.device().trim();
  EXPECT_TRUE(kernel.expired());
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
  EXPECT_GT(std::filesystem::file_size(path_), 120u);
  run_once();
  for (const char* damage : {"", "short",
                             "KNZPIPE1 and then something else altogether, at length "
                             "enough to be taken for a header, which it is not. Or?"}) {
    std::ofstream(path_, std::ios::trunc) << damage;
    run_once();
    std::string start(8, ' ');
    std::ifstream(path_).read(start.data(), 8);
    EXPECT_EQ(start, "KNZPIPE1");
    EXPECT_GT(std::filesystem::file_size(path_), 120u);
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);  // cannot be read or replaced: not fatal
  run_once();
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // nobody writes to it, and nobody waits for that
  run_once();
}

TEST_F(CacheFile, IsRebuiltWhereverItIsBroken) {
  const auto keeps_the_driver_loaded = make_vulkan_device({});
  run_once();
  std::string good;
  {
    std::ifstream in(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  const size_t step = good.size() / 40 + 1;
  for (size_t i = 0; i < good.size(); i += i < 120 ? 11 : step) {
    for (const bool cut : {false, true}) {
      std::string damaged = good;
      if (cut) {
        damaged.resize(i);
      } else {
        damaged[i] = static_cast<char>(damaged[i] ^ 0x81);
      }
      std::ofstream(path_, std::ios::binary | std::ios::trunc) << damaged;
      run_once();
      std::string now;
      std::ifstream in(path_, std::ios::binary);
      now.assign(std::istreambuf_iterator<char>(in), {});
      EXPECT_NE(now, damaged) << i;
      EXPECT_EQ(now.substr(0, 8), "KNZPIPE1") << i;
    }
  }
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
  for (size_t n = 0; n < file.size(); ++n) {
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(vulkan::unwrap_cache(device, cut), std::nullopt) << n;
  }
  device.driver_version = 6;
  EXPECT_EQ(vulkan::unwrap_cache(device, file), std::nullopt);
}

/// Uses most of what a device can do.
Status busy_day(Device& device) {
  std::vector<int32_t> data(700'000);
  std::iota(data.begin(), data.end(), 0);
  KENAZ_ASSIGN(const BlockPtr big, device.allocate(int64_t{20} << 20));
  KENAZ_ASSIGN(const BlockPtr record, device.allocate(256));
  KENAZ_TRY(device.upload(record, 0, std::vector<std::byte>(256)));
  KENAZ_TRY(device.upload(big, 0, std::as_bytes(std::span(data))));
  KENAZ_ASSIGN(const KernelPtr add, device.make_kernel({"add", add_spirv, 48}));
  for (int i = 0; i < 300; ++i) {
    const uint64_t slots[] = {
        record->address(), big->address(), big->address(), data.size(), 1, 10'938};
    KENAZ_TRY(device.dispatch(add, i < 290 ? 1 : 10'938, 1, std::as_bytes(std::span(slots))));
    KENAZ_TRY(device.barrier());
  }
  const int32_t last = 7;
  KENAZ_TRY(device.write(big, 4, std::as_bytes(std::span(&last, 1))));
  KENAZ_TRY(device.stash(std::as_bytes(std::span(&last, 1))));
  KENAZ_TRY(device.submit_and_wait());
  std::vector<int32_t> result(data.size());
  KENAZ_TRY(device.download(big, 0, std::as_writable_bytes(std::span(result))));
  device.trim();
  for (int& x : data) x += 10;
  for (int i = 0; i < 64; ++i) data[i] += 290;
  data[1] = 7;
  EXPECT_EQ(result, data);
  return {};
}

/// Lets each Vulkan call fail in turn (see fault_stride.h).
void let_calls_fail(bool staging, bool lose_device) {
  VulkanOptions options;
  options.validation = std::make_shared<ValidationLog>();
  options.faults = std::make_shared<VulkanFaults>();
  options.faults->lose_device = lose_device;
  options.force_staging = staging;
  const auto kind = lose_device ? ErrorKind::kDeviceLost : ErrorKind::kOutOfMemory;
  const auto keeps_the_driver_loaded = make_vulkan_device({});
  int64_t n = 0, failed = 0;
  for (bool reached = true; reached; n += kFaultStride) {
    options.faults->calls = 0;
    options.faults->fail_at = n;
    auto device = make_vulkan_device(options);
    const Status day = device ? busy_day(**device) : Status(tl::make_unexpected(device.error()));
    reached = options.faults->calls > n;
    options.faults->fail_at = -1;
    if (!day) {
      ++failed;
      EXPECT_TRUE(day.error().kind == kind || !device) << n << ": " << day.error().text();
    }
    if (device && !lose_device) {
      const Status next_day = busy_day(**device);
      EXPECT_TRUE(next_day) << n << ": " << next_day.error().text();
    }
  }
  EXPECT_GT(n, 40);
  EXPECT_GT(failed * kFaultStride, 20);
  EXPECT_THAT(options.validation->messages(), testing::ElementsAre());
}

TEST(Faults, OutOfMemoryAtAnyCallIsSurvivedMapped) { let_calls_fail(false, false); }
TEST(Faults, OutOfMemoryAtAnyCallIsSurvivedStaged) { let_calls_fail(true, false); }
TEST(Faults, LosingTheDeviceAtAnyCallIsReported) { let_calls_fail(true, true); }

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

TEST(RangePool, GivesWhatWasJustFreedAsItIs) {
  vulkan::RangePool pool;
  pool.add_slab(0, 8192);
  const auto a = pool.take(512), b = pool.take(512), c = pool.take(256);
  ASSERT_TRUE(a && b && c);
  pool.give(*a, 512);
  pool.give(*b, 512);
  EXPECT_EQ(pool.take(512)->offset, a->offset);
  EXPECT_EQ(pool.take(512)->offset, b->offset);
  pool.give(*b, 512);
  pool.give(*a, 512);
  EXPECT_EQ(pool.free_bytes(), 8192 - 256);
  EXPECT_TRUE(pool.remove_free_slabs().empty());
  EXPECT_EQ(pool.take(1024)->offset, a->offset);  // joined
}

TEST(RangePool, ManyThatAreFreedAreJoined) {
  vulkan::RangePool pool;
  pool.add_slab(0, 4096);
  std::vector<vulkan::RangePool::Range> all;
  for (int n = 0; n < 16; ++n) all.push_back(*pool.take(256));
  EXPECT_FALSE(pool.take(256));
  for (const auto& range : all) pool.give(range, 256);
  EXPECT_EQ(pool.free_bytes(), 4096);
  EXPECT_EQ(pool.take(4096)->offset, 0);
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

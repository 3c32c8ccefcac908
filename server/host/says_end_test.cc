// Kernels that say their end (program::kMostSaying), as the compiler prints them, on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/kir/builder.h"
#include "kernels/program/program.h"
#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::host {
namespace {

using testing::Each;
using testing::ElementsAre;
using Words = std::vector<uint32_t>;

constexpr int kGroupSize = 64;

class SaysEndTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto made = device::make_vulkan_device({});
    ASSERT_TRUE(made) << made.error().text();
    device_ = *made;
    record_ = zeros(program::kFailureRecordBytes / 4);
    cell_ = *device_->allocate_for_host(program::kCellBytes);
    build();
  }

  /// Adds 1 to each number; the threads of a workgroup work together if the parameter is true.
  void build() {
    kir::Kernel kernel;
    kernel.name = "adds";
    kernel.group_size = {kGroupSize};
    kir::Builder k(kernel);
    const kir::Value xs = k.block_arg("xs");
    if (GetParam()) k.barrier();
    k.store(xs, k.global(), k.add(k.load(PrimType::kI32, xs, k.global()), 1));
    glsl::PrintOptions options;
    options.skips_look = options.says_end = true;
    const glsl::PrintedKernel printed = glsl::print_kernel(kernel, options);
    ASSERT_TRUE(printed.says_end);
    ASSERT_EQ(printed.slots, 4);
    const auto spirv = glsl::compile_glsl(kernel.name, printed.text);
    ASSERT_TRUE(spirv) << spirv.error().text();
    const uint32_t loops_look = 1;
    auto made = device_->make_kernel({kernel.name, *spirv, 32, {&loops_look, 1}, {}, {}});
    ASSERT_TRUE(made) << made.error().text();
    kernel_ = *made;
  }

  device::BlockPtr zeros(size_t words) {
    auto block = device_->allocate(static_cast<int64_t>(4 * words));
    EXPECT_TRUE(block);
    const Words none(words);
    EXPECT_TRUE(device_->upload(*block, 0, std::as_bytes(std::span(none))));
    return *block;
  }
  Words words(const device::BlockPtr& block) {
    Words out(static_cast<size_t>(block->bytes() / 4));
    EXPECT_TRUE(device_->download(block, 0, std::as_writable_bytes(std::span(out))));
    return out;
  }
  Words told() {
    const std::span<std::byte> memory = device_->watched(cell_);
    Words out(memory.size() / 4);
    std::memcpy(out.data(), memory.data(), memory.size());
    return out;
  }
  /// Of `groups` workgroups, in one row; nothing has failed if `sure`.
  void launch(const device::BlockPtr& xs, uint64_t groups, bool sure, bool says) {
    std::ranges::fill(device_->watched(cell_), std::byte{0});
    const std::array<uint64_t, 4> push{record_->address() | (sure ? program::kNothingFailed : 0),
                                       xs->address(), says ? cell_->address() : 0, groups};
    ASSERT_TRUE(device_->barrier());
    // Two workgroups more than the launch has: these leave, and are not counted.
    ASSERT_TRUE(device_->dispatch(kernel_, static_cast<uint32_t>(groups) + 2, 1,
                                  std::as_bytes(std::span(push)), 0));
    ASSERT_TRUE(device_->submit_and_wait());
  }

  std::shared_ptr<device::Device> device_;
  device::BlockPtr record_, cell_;
  device::KernelPtr kernel_;
};

TEST_P(SaysEndTest, TheLastWorkgroupSaysSoOnceAllHaveEnded) {
  for (const int groups : {1, 2, 3, 100, static_cast<int>(program::kMostSaying)}) {
    const device::BlockPtr xs = zeros(static_cast<size_t>(kGroupSize * groups));
    for (uint32_t round = 1; round <= 3; round++) {
      launch(xs, static_cast<uint64_t>(groups), true, true);
      EXPECT_THAT(words(xs), Each(round)) << groups;
      EXPECT_THAT(told(), ElementsAre(1, 0, 0xa5a5a5a4, 0xa5a5a5a5)) << groups;
      EXPECT_THAT(words(record_), Each(0)) << groups;  // for the next launch
    }
  }
}

TEST_P(SaysEndTest, NothingIsSaidToNobody) {
  const device::BlockPtr xs = zeros(kGroupSize * 3);
  launch(xs, 3, true, false);
  EXPECT_THAT(words(xs), Each(1));
  EXPECT_THAT(told(), Each(0));
  EXPECT_THAT(words(record_), Each(0));
}

TEST_P(SaysEndTest, WhoIsNotToldThatNothingFailedLooks) {
  const device::BlockPtr xs = zeros(kGroupSize * 3);
  launch(xs, 3, false, false);
  EXPECT_THAT(words(xs), Each(1));
  const uint32_t failed = 3;
  ASSERT_TRUE(device_->upload(record_, 0, std::as_bytes(std::span(&failed, 1))));
  launch(xs, 3, false, false);
  EXPECT_THAT(words(xs), Each(1));
  launch(xs, 3, true, false);
  EXPECT_THAT(words(xs), Each(2));
}

INSTANTIATE_TEST_SUITE_P(Threads, SaysEndTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Together" : "Alone"; });

}  // namespace
}  // namespace kenaz::host

// Leaves in pieces, staged and mapped, with the I/O on another thread.
#include "server/host/device_transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/testdata/fault_stride.h"
#include "server/testdata/pieces.h"

namespace kenaz::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeviceTransfersTest : public testing::TestWithParam<bool> {
 protected:
  // Some drivers cannot be loaded and unloaded dozens of times in one process.
  static void SetUpTestSuite() {
    keeps_the_driver_loaded_ = device::make_vulkan_device({}).value_or(nullptr);
  }
  static void TearDownTestSuite() { keeps_the_driver_loaded_.reset(); }
  static inline std::shared_ptr<device::Device> keeps_the_driver_loaded_;

  void SetUp() override {
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = GetParam();
    options.faults = faults_;
    auto made = device::make_vulkan_device(options);
    ASSERT_TRUE(made) << made.error().text();
    device_ = *made;
    auto engine = make_device_engine(program::Program(), device_);
    ASSERT_TRUE(engine) << engine.error().text();
    engine_ = std::move(*engine);
  }
  void TearDown() override {
    engine_.reset();
    device_.reset();
    EXPECT_THAT(log_->messages(), ElementsAre());
  }

  /// Fills at most `piece` bytes at a time, on a thread of its own; stops after `most`.
  Status fill(LeafWriter& writer, std::span<const std::byte> data, size_t piece,
              size_t most = SIZE_MAX) {
    size_t done = 0;
    while (done < std::min(data.size(), most)) {
      std::thread([&] {
        for (auto to = writer.window(); !to.empty() && done < most; to = writer.window()) {
          const size_t n = std::min({piece, to.size(), data.size() - done});
          std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(done), n, to.begin());
          writer.advance(n);
          done += n;
        }
      }).join();
      KENAZ_TRY(writer.work());
    }
    return {};
  }
  Result<std::vector<std::byte>> drain(LeafReader& reader, size_t total, size_t piece) {
    std::vector<std::byte> out;
    while (out.size() < total) {
      KENAZ_TRY(reader.work());
      std::thread([&] {
        for (auto from = reader.window(); !from.empty(); from = reader.window()) {
          const auto some = from.first(std::min(piece, from.size()));
          out.insert(out.end(), some.begin(), some.end());
          reader.advance(some.size());
        }
      }).join();
    }
    EXPECT_TRUE(reader.window().empty());
    EXPECT_TRUE(reader.work());
    EXPECT_TRUE(reader.window().empty());
    return out;
  }
  std::vector<int32_t> numbers(int64_t n) {
    std::vector<int32_t> v(static_cast<size_t>(n));
    std::iota(v.begin(), v.end(), 17);
    return v;
  }
  LeafPtr written(const std::vector<int32_t>& v, size_t piece) {
    auto writer = engine_->writer(PrimType::kI32, {static_cast<int64_t>(v.size())});
    EXPECT_TRUE(writer) << writer.error().text();
    EXPECT_TRUE(fill(**writer, std::as_bytes(std::span(v)), piece));
    auto leaf = (*writer)->finish();
    EXPECT_TRUE(leaf) << leaf.error().text();
    return leaf.value_or(nullptr);
  }

  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::shared_ptr<device::VulkanFaults> faults_ = std::make_shared<device::VulkanFaults>();
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(DeviceTransfersTest, ArraysOfAnySizeInPiecesOfAnySize) {
  // Around the sizes of chunks, and more than all chunks of one transfer hold.
  for (const int64_t n : {0L, 1L, 65536L, 65537L, 1'048'576L, 1'048'577L, 5'000'003L}) {
    const auto v = numbers(n);
    for (const size_t piece : {size_t{100'003}, SIZE_MAX}) {
      const LeafPtr leaf = written(v, piece);
      ASSERT_TRUE(leaf);
      EXPECT_THAT(leaf->shape, ElementsAre(n));
      auto whole = engine_->get(*leaf);
      ASSERT_TRUE(whole);
      const auto bytes = std::as_bytes(std::span(v));
      EXPECT_TRUE(same_bytes(whole->bytes, bytes)) << n;
      auto reader = engine_->reader(leaf);
      ASSERT_TRUE(reader) << reader.error().text();
      auto read = drain(**reader, bytes.size(), piece);
      ASSERT_TRUE(read) << read.error().text();
      EXPECT_TRUE(same_bytes(*read, bytes)) << n;
    }
  }
}

TEST_P(DeviceTransfersTest, Scalars) {
  const double x = 2.5;
  auto writer = engine_->writer(PrimType::kF64, {});
  ASSERT_TRUE(writer);
  EXPECT_EQ((*writer)->window().size(), 8u);
  EXPECT_FALSE((*writer)->finish());
  ASSERT_TRUE(fill(**writer, std::as_bytes(std::span(&x, 1)), 3));
  auto leaf = (*writer)->finish();
  ASSERT_TRUE(leaf);
  EXPECT_EQ(engine_->get(**leaf)->at(0).as_double(), 2.5);
  auto reader = engine_->reader(*leaf);
  ASSERT_TRUE(reader);
  auto read = drain(**reader, 8, 5);
  ASSERT_TRUE(read);
  EXPECT_TRUE(same_bytes(*read, std::as_bytes(std::span(&x, 1))));
}

TEST_P(DeviceTransfersTest, TransfersGoOnSideBySide) {
  constexpr int kMany = 40;  // more than there are full-sized chunks for
  const auto v = numbers(1'200'000);
  const auto bytes = std::as_bytes(std::span(v));
  std::vector<std::unique_ptr<LeafWriter>> writers;
  for (int i = 0; i < kMany; ++i) {
    auto writer = engine_->writer(PrimType::kI32, {static_cast<int64_t>(v.size())});
    ASSERT_TRUE(writer) << writer.error().text();
    ASSERT_TRUE(fill(**writer, bytes, SIZE_MAX, 1));  // stands still with a piece written
    writers.push_back(std::move(*writer));
  }
  const LeafPtr other = written(v, SIZE_MAX);  // goes on nevertheless
  ASSERT_TRUE(other);
  EXPECT_TRUE(same_bytes(engine_->get(*other)->bytes, bytes));
  for (auto& writer : writers) {
    auto early = writer->finish();
    EXPECT_EQ(early.has_value(), !GetParam());  // a mapped one took all at once
    if (early) continue;
    EXPECT_THAT(early.error().message, HasSubstr("of 4800000 bytes ended after"));
  }
  std::thread([&] { writers.clear(); }).join();
  EXPECT_TRUE(same_bytes(engine_->get(*other)->bytes, bytes));
}

TEST_P(DeviceTransfersTest, AbandonedOnesLeaveNothingBehind) {
  const auto v = numbers(3'000'000);
  const auto bytes = std::as_bytes(std::span(v));
  LeafPtr leaf = written(v, SIZE_MAX);
  const int64_t before = device_->memory().used;
  for (int round = 0; round < 30; ++round) {
    auto writer = engine_->writer(PrimType::kI32, {static_cast<int64_t>(v.size())});
    ASSERT_TRUE(writer) << writer.error().text();
    ASSERT_TRUE(fill(**writer, bytes, SIZE_MAX, static_cast<size_t>(round) * 400'000));
    auto reader = engine_->reader(leaf);
    ASSERT_TRUE(reader) << reader.error().text();
    ASSERT_TRUE((*reader)->work());
    // Copies may be running now.
    std::thread([&] {
      writer->reset();
      reader->reset();
    }).join();
    EXPECT_EQ(device_->memory().used, before);
  }
  EXPECT_TRUE(same_bytes(engine_->get(*leaf)->bytes, bytes));
  auto writer = engine_->writer(PrimType::kI32, {static_cast<int64_t>(v.size())});
  auto reader = engine_->reader(leaf);
  ASSERT_TRUE(writer && reader);
  engine_.reset();  // they may outlive everything
  device_.reset();
  leaf.reset();
}

TEST_P(DeviceTransfersTest, WhatIsTooLargeIsRefusedAtOnce) {
  for (const int64_t n : {device_->info().max_block_bytes / 4 + 1, INT64_MAX / 8, INT64_MAX}) {
    auto writer = engine_->writer(PrimType::kI32, {n});
    ASSERT_FALSE(writer);
  }
  auto writer = engine_->writer(PrimType::kI32, {device_->info().max_block_bytes / 4 + 1});
  EXPECT_EQ(writer.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_THAT(writer.error().message, HasSubstr("a single array of"));
  EXPECT_FALSE(engine_->writer(PrimType::kI32, {-1}));
}

TEST_P(DeviceTransfersTest, CallsThatFailFailTheTransferOnly) {
  const auto v = numbers(2'500'000);
  const auto bytes = std::as_bytes(std::span(v));
  const auto round_trip = [&]() -> Status {
    KENAZ_ASSIGN(auto writer, engine_->writer(PrimType::kI32, {static_cast<int64_t>(v.size())}));
    KENAZ_TRY(fill(*writer, bytes, SIZE_MAX));
    KENAZ_ASSIGN(const LeafPtr leaf, writer->finish());
    KENAZ_ASSIGN(auto reader, engine_->reader(leaf));
    KENAZ_ASSIGN(const auto read, drain(*reader, bytes.size(), SIZE_MAX));
    EXPECT_TRUE(same_bytes(read, bytes));
    return {};
  };
  bool reached = true;
  for (int64_t n = 0; reached; n += kFaultStride) {
    faults_->calls = 0;
    faults_->fail_at = n;
    const Status first = round_trip();
    reached = faults_->calls > n;
    faults_->fail_at = -1;
    if (!first) {
      EXPECT_EQ(first.error().kind, ErrorKind::kOutOfMemory) << first.error().text();
    }
    const Status again = round_trip();
    ASSERT_TRUE(again) << n << again.error().text();
    device_->trim();
  }
}

INSTANTIATE_TEST_SUITE_P(Vulkan, DeviceTransfersTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Staged" : "Mapped"; });

}  // namespace
}  // namespace kenaz::host

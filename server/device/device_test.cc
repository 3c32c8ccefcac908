// What every Device must do, run on the first Vulkan device of the machine with validation on, and
// on the interpreter.
#include "server/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "server/device/interpreter/interpreter_device.h"
#include "server/device/test_kernels.h"
#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::span<const std::byte> bytes_of(const T& v) {
  return std::as_bytes(std::span(v));
}

enum class Kind { kMapped, kStaged, kInterpreted };

class DeviceTest : public testing::TestWithParam<Kind> {
 protected:
  // Some drivers cannot be loaded and unloaded dozens of times in one process.
  static void SetUpTestSuite() {
    keeps_the_driver_loaded_ = make_vulkan_device({}).value_or(nullptr);
  }
  static void TearDownTestSuite() { keeps_the_driver_loaded_.reset(); }
  static inline std::shared_ptr<Device> keeps_the_driver_loaded_;

  void SetUp() override {
    if (GetParam() == Kind::kInterpreted) {
      InterpreterOptions options;
      options.memory_limit = int64_t{4} << 30;
      options.undefined_reads = true;
      device_ = make_interpreter_device(options);
      return;
    }
    VulkanOptions options;
    options.validation = log_;
    options.force_staging = GetParam() == Kind::kStaged;
    auto made = make_vulkan_device(options);
    ASSERT_TRUE(made) << made.error().text();
    device_ = std::move(*made);
  }
  void TearDown() override {
    device_.reset();
    EXPECT_THAT(log_->messages(), ElementsAre());
  }

  BlockPtr block(int64_t bytes) {
    auto b = device_->allocate(bytes);
    EXPECT_TRUE(b) << b.error().text();
    return *b;
  }
  BlockPtr block_of(const std::vector<int32_t>& v) {
    BlockPtr b = block(static_cast<int64_t>(v.size()) * 4);
    EXPECT_TRUE(device_->upload(b, 0, bytes_of(v)));
    return b;
  }
  std::vector<int32_t> read(const BlockPtr& b, size_t n) {
    std::vector<int32_t> v(n, -1);
    auto ok = device_->download(b, 0, std::as_writable_bytes(std::span(v)));
    EXPECT_TRUE(ok) << ok.error().text();
    return v;
  }
  BlockPtr failure_record() { return block_of(std::vector<int32_t>(32, 0)); }
  KernelPtr kernel(const TestKernel& test) {
    auto k = device_->make_kernel({"test", test.spirv, test.push_bytes, {}, test.kernel_ir});
    EXPECT_TRUE(k) << k.error().text();
    return *k;
  }
  void dispatch(const KernelPtr& k, uint32_t x, uint32_t y, const std::vector<uint64_t>& slots) {
    auto ok = device_->dispatch(k, x, y, bytes_of(slots));
    EXPECT_TRUE(ok) << ok.error().text();
  }

  std::shared_ptr<ValidationLog> log_ = std::make_shared<ValidationLog>();
  std::shared_ptr<Device> device_;
};

TEST_P(DeviceTest, InfoIsFilled) {
  EXPECT_FALSE(device_->info().name.empty());
  EXPECT_GE(device_->info().subgroup_size, 1u);
  EXPECT_GE(device_->info().max_block_bytes, int64_t{1} << 30);
}

TEST_P(DeviceTest, RunsAKernel) {
  std::vector<int32_t> in(1000);
  std::iota(in.begin(), in.end(), 0);
  const BlockPtr src = block_of(in), dst = block(4000), failure = failure_record();
  dispatch(kernel(kAdd), 4, 4, {failure->address(), src->address(), dst->address(), 1000, 7, 16});
  ASSERT_TRUE(device_->submit_and_wait());
  for (auto& x : in) x += 7;
  EXPECT_EQ(read(dst, 1000), in);
}

TEST_P(DeviceTest, CommandsRunInOrderAcrossManySubmits) {
  const BlockPtr counter = block_of({1}), failure = failure_record();
  const KernelPtr step = kernel(kStep);
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 2000; ++i) {
    dispatch(step, 1, 1, {failure->address(), counter->address(), i, 1});
    expected = expected * 3 + i;
    ASSERT_TRUE(device_->barrier());
  }
  EXPECT_EQ(static_cast<uint32_t>(read(counter, 1)[0]), expected);
}

TEST_P(DeviceTest, AFewCommandsAreOneSubmissionAndManyStartEarly) {
  if (GetParam() == Kind::kInterpreted) GTEST_SKIP() << "runs at once";
  const BlockPtr counter = block_of({1}), failure = failure_record();
  const KernelPtr step = kernel(kStep);
  device_->set_timing(true);
  const auto submissions = [&](int kernels) {
    for (int i = 0; i < kernels; ++i) {
      dispatch(step, 1, 1, {failure->address(), counter->address(), 0, 1});
      EXPECT_TRUE(device_->barrier());
    }
    EXPECT_TRUE(device_->submit_and_wait());
    const auto times = device_->take_times();
    const auto all = std::ranges::count(times, nullptr, &KernelTime::kernel);
    EXPECT_EQ(std::ssize(times) - all, kernels);
    return all;
  };
  EXPECT_EQ(submissions(3), 1);
  EXPECT_GT(submissions(100), 1);
  EXPECT_EQ(submissions(3), 1);
}

TEST_P(DeviceTest, WritesAreInOrderWithKernelsAndOfAnyAlignment) {
  const BlockPtr counter = block_of({5, 5}), failure = failure_record();
  const KernelPtr step = kernel(kStep);
  dispatch(step, 1, 1, {failure->address(), counter->address(), 1, 1});  // 16
  ASSERT_TRUE(device_->barrier());
  const std::vector<uint8_t> byte = {1};
  ASSERT_TRUE(device_->write(counter, 1, bytes_of(byte)));  // 16 + 256
  ASSERT_TRUE(device_->barrier());
  dispatch(step, 1, 1, {failure->address(), counter->address(), 0, 1});
  EXPECT_THAT(read(counter, 2), ElementsAre(3 * (16 + 256), 5));
}

TEST_P(DeviceTest, CopiesBetweenBlocks) {
  const BlockPtr a = block_of({1, 2, 3, 4}), b = block_of({5, 6, 7, 8});
  ASSERT_TRUE(device_->copy(b, 4, a, 8, 8));
  EXPECT_THAT(read(b, 4), ElementsAre(5, 3, 4, 8));
  EXPECT_FALSE(device_->copy(b, 12, a, 0, 8));
  EXPECT_FALSE(device_->copy(b, 0, a, 0, -1));
}

TEST_P(DeviceTest, LongWritesAndTransfersKeepEveryByte) {
  std::vector<int32_t> data(5'000'001);
  std::iota(data.begin(), data.end(), 3);
  const BlockPtr b = block_of(data);
  EXPECT_EQ(read(b, data.size()), data);
  std::vector<int32_t> part(100'000, 9);
  ASSERT_TRUE(device_->write(b, 400, bytes_of(part)));
  std::copy(part.begin(), part.end(), data.begin() + 100);
  EXPECT_EQ(read(b, data.size()), data);
}

TEST_P(DeviceTest, BlocksForTheHostKeepWhatRecordedCommandsRead) {
  auto cell = device_->allocate_for_host(8);
  ASSERT_TRUE(cell);
  ASSERT_TRUE(device_->upload(*cell, 0, bytes_of(std::vector<int32_t>{7, 9})));
  ASSERT_TRUE(device_->submit_and_wait());
  const BlockPtr out = block(8);
  ASSERT_TRUE(device_->copy(out, 0, *cell, 0, 8));
  cell->reset();  // while the copy is recorded only
  const auto next = device_->allocate_for_host(8);
  ASSERT_TRUE(next);
  EXPECT_THAT(read(out, 2), ElementsAre(7, 9));
}

TEST_P(DeviceTest, WatchedMemoryShowsWhatKernelsStoreBeforeAnyBarrier) {
  const auto cell = device_->allocate_for_host(16);
  ASSERT_TRUE(cell);
  const std::span<std::byte> memory = device_->watched(*cell);
  EXPECT_TRUE(device_->watched(block(16)).empty());
  if (GetParam() == Kind::kInterpreted) {
    EXPECT_TRUE(memory.empty());
    return;
  }
  ASSERT_EQ(memory.size(), 16u);
  auto& word = *reinterpret_cast<int32_t*>(memory.data());
  const BlockPtr failure = failure_record();
  const KernelPtr step = kernel(kStep);
  for (int round = 0; round < 200; ++round) {
    std::atomic_ref(word).store(round);
    dispatch(step, 1, 1, {failure->address(), (*cell)->address(), 7, 1});
    const auto seen =
        device_->submit_and_watch([&] { return std::atomic_ref(word).load() == 3 * round + 7; });
    ASSERT_TRUE(seen);
    EXPECT_TRUE(*seen);
    ASSERT_TRUE(device_->barrier());
  }
  dispatch(step, 1, 1, {failure->address(), (*cell)->address(), 1, 1});
  EXPECT_EQ(read(*cell, 1)[0], 3 * (3 * 199 + 7) + 1);
  const auto never = device_->submit_and_watch([] { return false; });
  ASSERT_TRUE(never);
  EXPECT_FALSE(*never);
}

TEST_P(DeviceTest, StashedArgumentsReachTheNextDispatch) {
  const BlockPtr out = block(8), failure = failure_record();
  const KernelPtr many = kernel(kMany);
  for (uint64_t round = 0; round < 5000; ++round) {  // more than the stash holds at a time
    std::vector<uint64_t> slots = {failure->address(), out->address()};
    for (uint64_t i = 0; i < 20; ++i) slots.push_back(i + round);
    slots.push_back(1);
    auto address = device_->stash(bytes_of(slots));
    ASSERT_TRUE(address);
    dispatch(many, 1, 1, {*address});
    ASSERT_TRUE(device_->barrier());
  }
  EXPECT_EQ(read(out, 1)[0], 190 + 20 * 4999 + 1000);
}

TEST_P(DeviceTest, SubmitAndReadGivesSeveralPieces) {
  const BlockPtr a = block_of({1, 2, 3}), b = block_of({4, 5});
  int32_t x = 0, y = 0;
  const ReadBack pieces[] = {{a, 4, std::as_writable_bytes(std::span(&x, 1))},
                             {b, 0, std::as_writable_bytes(std::span(&y, 1))}};
  ASSERT_TRUE(device_->submit_and_read(pieces));
  EXPECT_EQ(x, 2);
  EXPECT_EQ(y, 4);
}

TEST_P(DeviceTest, BlocksAreApartAndAligned) {
  std::vector<BlockPtr> blocks;
  for (int64_t bytes : {0, 1, 255, 256, 257, 5'000'000, 1, 0}) blocks.push_back(block(bytes));
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i]->address() % 256, 0u);
    for (size_t j = 0; j < i; ++j) {
      const auto a = blocks[i]->address(), b = blocks[j]->address();
      EXPECT_TRUE(a + std::max<uint64_t>(blocks[i]->bytes(), 1) <= b ||
                  b + std::max<uint64_t>(blocks[j]->bytes(), 1) <= a);
    }
  }
}

TEST_P(DeviceTest, FreedMemoryIsUsedAgainAndTrimmed) {
  { const BlockPtr warm = block(int64_t{40} << 20), small = block(1000); }
  const MemoryStats after = device_->memory();
  EXPECT_EQ(after.used, 0);
  if (GetParam() != Kind::kInterpreted) {
    EXPECT_GE(after.cached, int64_t{40} << 20);
  }
  for (int i = 0; i < 50; ++i) {
    const BlockPtr large = block(int64_t{40} << 20), small = block(1000 + i);
  }
  EXPECT_EQ(device_->memory().cached, after.cached);
  device_->trim();
  EXPECT_EQ(device_->memory().cached, 0);
}

TEST_P(DeviceTest, ImpossibleRequestsAreRefusedAndHarmless) {
  const BlockPtr keep = block_of({42});
  for (int64_t bytes : {device_->info().max_block_bytes + 1, INT64_MAX - 5, INT64_MAX}) {
    auto huge = device_->allocate(bytes);
    ASSERT_FALSE(huge);
    EXPECT_EQ(huge.error().kind, ErrorKind::kOutOfMemory);
    EXPECT_THAT(huge.error().message, HasSubstr("bytes"));
  }
  EXPECT_FALSE(device_->allocate(-1));
  EXPECT_THAT(read(keep, 1), ElementsAre(42));
}

TEST_P(DeviceTest, TransfersOutsideABlockAreRefused) {
  const BlockPtr b = block(8);
  std::vector<int32_t> data = {1, 2};
  EXPECT_FALSE(device_->upload(b, 4, bytes_of(data)));
  EXPECT_FALSE(device_->write(b, -4, bytes_of(data)));
  EXPECT_FALSE(device_->download(b, INT64_MAX, std::as_writable_bytes(std::span(data))));
  EXPECT_TRUE(device_->upload(b, 8, {}));
}

TEST_P(DeviceTest, WhatIsNotSpirvIsRefused) {
  const std::vector<uint32_t> words(20, 7);
  EXPECT_FALSE(device_->make_kernel({"broken", words, 8}));
  EXPECT_FALSE(device_->make_kernel({"empty", {}, 8}));
  EXPECT_FALSE(device_->make_kernel({"greedy", add_spirv, 1 << 20}));
}

TEST_P(DeviceTest, BlocksMayOutliveTheDeviceAndGoOnAnotherThread) {
  BlockPtr b = block_of({1});
  device_.reset();
  std::thread([&] { b.reset(); }).join();
}

TEST_P(DeviceTest, KernelsMayGoWhileRecorded) {
  const BlockPtr counter = block_of({1});
  const BlockPtr failure = failure_record();
  dispatch(kernel(kStep), 1, 1, {failure->address(), counter->address(), 1, 1});
  EXPECT_THAT(read(counter, 1), ElementsAre(4));
}

TEST_P(DeviceTest, MappedMemoryIsTheBlockItself) {
  const BlockPtr b = block_of({1, 2, 3});
  const auto bytes = device_->mapped(b);
  if (GetParam() != Kind::kMapped) {
    EXPECT_TRUE(bytes.empty());
    return;
  }
  ASSERT_EQ(bytes.size(), 12u);
  ASSERT_TRUE(device_->submit_and_wait());
  const int32_t x = 9;
  std::memcpy(bytes.data() + 4, &x, 4);
  EXPECT_THAT(read(b, 3), ElementsAre(1, 9, 3));
}

TEST_P(DeviceTest, ChunksAreCopiedInOrderWithKernels) {
  const BlockPtr counter = block_of({5, 0}), failure = failure_record();
  const KernelPtr step = kernel(kStep);
  const std::vector<uint64_t> slots = {failure->address(), counter->address(), 1, 1};
  auto up = device_->chunk(4), down = device_->chunk(4);
  ASSERT_TRUE(up && down);
  int32_t x = 7;
  dispatch(step, 1, 1, slots);  // 16, overwritten
  std::memcpy((*up)->bytes().data(), &x, 4);
  ASSERT_TRUE(device_->start_upload(counter, 0, *up, 4));
  dispatch(step, 1, 1, slots);  // 22
  ASSERT_TRUE(device_->start_download(counter, 0, *down, 4));
  dispatch(step, 1, 1, slots);  // 67
  ASSERT_TRUE(device_->wait(*down));
  std::memcpy(&x, (*down)->bytes().data(), 4);
  EXPECT_EQ(x, 22);
  EXPECT_THAT(read(counter, 2), ElementsAre(67, 0));
}

TEST_P(DeviceTest, ChunksOutsideTheirBoundsAreRefused) {
  const BlockPtr b = block(8);
  auto chunk = device_->chunk(8);
  ASSERT_TRUE(chunk);
  EXPECT_FALSE(device_->start_upload(b, 4, *chunk, 8));
  EXPECT_FALSE(device_->start_download(b, -4, *chunk, 4));
  EXPECT_FALSE(device_->start_upload(b, 0, *chunk, -1));
  EXPECT_FALSE(device_->start_upload(b, 0, *chunk, INT64_MAX));
  EXPECT_TRUE(device_->start_upload(b, 8, *chunk, 0));
  EXPECT_TRUE(device_->wait(*chunk));
}

TEST_P(DeviceTest, ChunksRunOutOnlyForThoseWhoWantMore) {
  constexpr int64_t kMuch = int64_t{1} << 30;
  std::vector<ChunkPtr> held;
  size_t largest = 0, smallest = SIZE_MAX;
  for (int i = 0; i < 60; ++i) {
    auto chunk = device_->chunk(kMuch);
    ASSERT_TRUE(chunk) << chunk.error().text();
    ASSERT_TRUE(*chunk);
    largest = std::max(largest, (*chunk)->bytes().size());
    smallest = std::min(smallest, (*chunk)->bytes().size());
    held.push_back(*chunk);
  }
  EXPECT_GE(largest, size_t{2} << 20);
  EXPECT_LT(smallest, largest);
  auto extra = device_->extra_chunk();
  ASSERT_TRUE(extra);
  EXPECT_EQ(*extra, nullptr);
  std::thread([&] { held.clear(); }).join();
  extra = device_->extra_chunk();
  ASSERT_TRUE(extra);
  ASSERT_NE(*extra, nullptr);
  EXPECT_EQ((*extra)->bytes().size(), largest);
}

TEST_P(DeviceTest, ChunksMayGoWhileTheDeviceWorksOnThem) {
  const BlockPtr b = block(int64_t{4} << 20);
  for (int round = 0; round < 100; ++round) {  // more than there are
    auto chunk = device_->chunk(b->bytes());
    ASSERT_TRUE(chunk);
    const auto n = std::min(b->bytes(), static_cast<int64_t>((*chunk)->bytes().size()));
    std::memset((*chunk)->bytes().data(), round, static_cast<size_t>(n));
    ASSERT_TRUE(device_->start_upload(b, 0, *chunk, n));
  }
  EXPECT_EQ(read(b, 1)[0], 99 * 0x01010101);
}

// ---- whose memory it is

constexpr int64_t kSmallBlock = 4000, kLargeBlock = int64_t{20} << 20;

class DeviceOwners : public DeviceTest {
 protected:
  std::vector<int32_t> pattern(int64_t bytes) const {
    return std::vector<int32_t>(static_cast<size_t>(bytes / 4), 0x5ec2e7);
  }
  /// A block of the owner's, filled and let go.
  void leave(uint64_t owner, int64_t bytes) {
    device_->set_owner(owner);
    block_of(pattern(bytes));
    EXPECT_TRUE(device_->submit_and_wait());
  }
  std::vector<int32_t> found(uint64_t owner, int64_t bytes) {
    device_->set_owner(owner);
    return read(block(bytes), static_cast<size_t>(bytes / 4));
  }
  static std::vector<int32_t> zeros(int64_t bytes) {
    return std::vector<int32_t>(static_cast<size_t>(bytes / 4), 0);
  }
};

TEST_P(DeviceOwners, FindTheirOwnBytesButNobodyElses) {
  for (const int64_t bytes : {kSmallBlock, kLargeBlock}) {
    leave(1, bytes);
    // On a GPU nothing is spent on clearing it.
    EXPECT_EQ(found(1, bytes), GetParam() == Kind::kInterpreted ? zeros(bytes) : pattern(bytes));
    EXPECT_EQ(found(2, bytes), zeros(bytes));
    leave(2, bytes);
    EXPECT_EQ(found(1, bytes), zeros(bytes));
  }
}

TEST_P(DeviceOwners, FindNobodysBytesInBlocksForTheHost) {
  for (uint64_t owner = 1; owner < 4; ++owner) {
    device_->set_owner(owner);
    const auto cell = device_->allocate_for_host(8);
    ASSERT_TRUE(cell);
    if (GetParam() != Kind::kInterpreted) {
      EXPECT_THAT(read(*cell, 2), ElementsAre(0, 0));
    }
    ASSERT_TRUE(device_->upload(*cell, 0, bytes_of(std::vector<int32_t>{7, 9})));
    ASSERT_TRUE(device_->submit_and_wait());
  }
}

TEST_P(DeviceOwners, DoNotFindTheDriversBytes) {
  for (int round = 0; round < 5;
       ++round) {  // the driver, or the heap below it, may hand it out again
    for (const int64_t bytes : {kSmallBlock, kLargeBlock}) {
      EXPECT_EQ(found(1, bytes), zeros(bytes)) << round;
      leave(1, bytes);
    }
    device_->trim();
  }
}

TEST_P(DeviceOwners, ClearingIsInOrderWithKernels) {
  const KernelPtr step = kernel(kStep);
  const BlockPtr failure = failure_record();
  for (uint64_t round = 1; round < 40; ++round) {
    device_->set_owner(round);
    BlockPtr old = block(kSmallBlock);
    dispatch(step, 1, 1, {failure->address(), old->address(), round, 1});
    old.reset();  // while the kernel that writes to it is recorded only
    device_->set_owner(round + 1000);
    const BlockPtr now = block(kSmallBlock);
    dispatch(step, 1, 1, {failure->address(), now->address(), 7, 1});
    EXPECT_EQ(read(now, 1)[0], 7) << round;
  }
}

TEST_P(DeviceOwners, WhatIsWrittenUnseenIsAnOwnersNoneTheLess) {
  for (const int64_t bytes : {kSmallBlock, kLargeBlock}) {
    leave(1, bytes);
    device_->set_owner(2);
    {
      auto b = device_->allocate_unseen(bytes);
      ASSERT_TRUE(b);
      std::vector<int32_t> half = pattern(bytes / 2);
      ASSERT_TRUE(device_->upload(*b, 0, bytes_of(half)));
    }
    EXPECT_EQ(found(2, bytes), zeros(bytes));
    EXPECT_EQ(found(1, bytes), zeros(bytes));
  }
}

const auto kKinds = testing::Values(Kind::kMapped, Kind::kStaged, Kind::kInterpreted);
std::string name_of(const testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::kMapped: return "Mapped";
    case Kind::kStaged: return "Staged";
    case Kind::kInterpreted: return "Interpreted";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(Devices, DeviceOwners, kKinds, name_of);
INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, kKinds, name_of);

}  // namespace
}  // namespace kenaz::device

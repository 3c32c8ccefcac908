#include "server/host/cells.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "server/device/vulkan/vulkan_device.h"

namespace kenaz::host {
namespace {

using program::kCellBytes;
using program::kCellMark;

class CellsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = device::make_vulkan_device({}).value_or(nullptr); }
  static void TearDownTestSuite() { device_.reset(); }
  static inline std::shared_ptr<device::Device> device_;

  BlockPart cells(int64_t n) {
    auto block = device_->allocate_for_host(kCellBytes * n);
    EXPECT_TRUE(block);
    return {*block};
  }
  std::array<uint8_t, kCellBytes> stored(uint64_t scalar) {
    const uint64_t words[] = {scalar, scalar ^ kCellMark};
    std::array<uint8_t, kCellBytes> bytes;
    std::memcpy(bytes.data(), words, sizeof words);
    return bytes;
  }
};

TEST_F(CellsTest, WhatIsThereIsRightInWhateverOrderTheBytesCome) {
  std::mt19937_64 random(1);
  const BlockPart part = cells(1);
  const std::span<std::byte> memory = device_->watched(part.block);
  Cells all(*device_);
  const uint64_t byte = kCellMark & 0xff;
  for (int round = 0; round < 3000; ++round) {
    uint64_t scalar = 0;  // of bytes that are all the same, or what the mark changes to 0
    for (int n = 0; n < 8; ++n)
      scalar = scalar << 8 | (random() % 3 == 0 ? 0 : random() % 2 == 0 ? byte : random() % 256);
    const auto bytes = stored(scalar);
    all.note_told(part);
    ASSERT_FALSE(all.are_there(part));
    std::array<size_t, kCellBytes> order;
    for (size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::ranges::shuffle(order, random);
    for (const size_t n : order) {
      memory[n] = std::byte{bytes[n]};
      if (all.are_there(part)) {
        ASSERT_EQ(all.at(part, 0, PrimType::kU64), scalar);
      }
    }
    ASSERT_TRUE(all.are_there(part));
    ASSERT_EQ(all.at(part, 0, PrimType::kU16), scalar & 0xffff);
    ASSERT_EQ(all.at(part, 0, PrimType::kBool), scalar & 1);
    ASSERT_TRUE(all.are_awaited(part));
    all.note_seen(part);
    ASSERT_FALSE(all.are_awaited(part));
    ASSERT_TRUE(all.all_seen());
  }
}

TEST_F(CellsTest, AllCellsOfABlockAreWaitedFor) {
  const BlockPart part = cells(2);
  const std::span<std::byte> memory = device_->watched(part.block);
  Cells all(*device_);
  all.note_told(part);
  const auto bytes = stored(5);
  std::memcpy(memory.data(), bytes.data(), bytes.size());
  EXPECT_FALSE(all.are_there(part));
  std::memcpy(memory.data() + kCellBytes, bytes.data(), bytes.size());
  EXPECT_TRUE(all.are_there(part));
  EXPECT_EQ(all.at(part, kCellBytes, PrimType::kI32), 5u);
}

TEST_F(CellsTest, WhatOthersMayUseIsNotSetToZero) {
  const BlockPart part = cells(1);
  const std::span<std::byte> memory = device_->watched(part.block);
  const auto bytes = stored(5);
  Cells all(*device_);
  all.note_told(part);
  std::memcpy(memory.data(), bytes.data(), bytes.size());
  all.note_used(part, false);  // a launch behind reads it
  EXPECT_TRUE(all.are_awaited(part));
  all.note_seen(part);
  EXPECT_FALSE(all.all_seen());
  all.note_told(part);  // the other may not have run
  EXPECT_FALSE(all.are_awaited(part));
  EXPECT_EQ(std::memcmp(memory.data(), bytes.data(), bytes.size()), 0);
  all.note_quiet();
  all.note_told(part);
  EXPECT_TRUE(all.are_awaited(part));
  EXPECT_FALSE(all.are_there(part));
}

TEST_F(CellsTest, TwoLaunchesThatTellByTheSameCellsAreNotToldApart) {
  const BlockPart part = cells(1);
  Cells all(*device_);
  all.note_told(part);
  all.note_told(part);
  EXPECT_FALSE(all.are_awaited(part));
  all.note_quiet();
  all.note_told(part);
  all.note_used(part, true);
  EXPECT_FALSE(all.are_awaited(part));
}

TEST_F(CellsTest, OrdinaryMemoryIsNotWatched) {
  auto block = device_->allocate(kCellBytes);
  ASSERT_TRUE(block);
  const BlockPart part = {*block};
  Cells all(*device_);
  all.note_told(part);
  all.note_used(part, true);
  EXPECT_FALSE(all.are_awaited(part));
  EXPECT_TRUE(all.all_seen());
}

}  // namespace
}  // namespace kenaz::host

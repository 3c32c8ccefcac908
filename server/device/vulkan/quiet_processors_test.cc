#include "server/device/vulkan/quiet_processors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace kenaz::device::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

cpu_set_t set_of(std::initializer_list<int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return set;
}

std::vector<int> members(const cpu_set_t& set) {
  std::vector<int> all;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) all.push_back(i);
  }
  return all;
}

TEST(InterruptsOf, AddsTheLinesOfEachProcessor) {
  EXPECT_THAT(interrupts_of("           CPU0       CPU1\n"
                            " 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                            "LOC:        100        200   Local timer interrupts\n"
                            "ERR:          7\n"),
              ElementsAre(108, 200));
}

TEST(InterruptsOf, KnowsProcessorsThatAreOff) {
  EXPECT_THAT(interrupts_of("   CPU0  CPU2\n 1:  3  4 x\n"), ElementsAre(3, 0, 4));
}

TEST(InterruptsOf, IsEmptyForOtherTexts) {
  EXPECT_THAT(interrupts_of(""), IsEmpty());
  EXPECT_THAT(interrupts_of("hello\n"), IsEmpty());
  EXPECT_THAT(interrupts_of("CPU9999999999999999999999\n"), IsEmpty());
  EXPECT_THAT(interrupts_of("CPU4000000\n"), IsEmpty());
}

constexpr QuietProcessors::Clock::time_point kStart{std::chrono::hours(1)};

class QuietProcessorsTest : public ::testing::Test {
 protected:
  /// Each wait has one interrupt, on processor `on_`.
  void look(std::chrono::seconds later = {}) {
    quiet_.look(kStart + later, [this] {
      ++counts_.at(on_);
      return ++waits_ != fails_at_;
    });
  }
  std::string text() const {
    return fmt::format("CPU0 CPU1 CPU2\n1: {} {} {} gpu\n", counts_[0], counts_[1], counts_[2]);
  }

  size_t on_ = 1;
  int waits_ = 0, fails_at_ = -1;
  std::array<uint64_t, 3> counts_ = {5, 1000, 7};
  std::vector<std::vector<int>> allowed_;
  QuietProcessors quiet_{[this] { return text(); },
                         [this](const cpu_set_t& set) { allowed_.push_back(members(set)); },
                         set_of({0, 1, 2})};
};

TEST_F(QuietProcessorsTest, LeavesTheInterruptedOne) {
  look();
  EXPECT_THAT(allowed_, ElementsAre(ElementsAre(0, 2)));
}

TEST_F(QuietProcessorsTest, FollowsInterruptsThatMove) {
  EXPECT_TRUE(quiet_.is_due(kStart));
  look();
  EXPECT_FALSE(quiet_.is_due(kStart + std::chrono::minutes(9)));
  EXPECT_TRUE(quiet_.is_due(kStart + std::chrono::minutes(10)));
  on_ = 2;
  look();
  look();
  EXPECT_THAT(allowed_, ElementsAre(ElementsAre(0, 2), ElementsAre(0, 1)));
}

TEST_F(QuietProcessorsTest, DoesNothingIfADeviceFails) {
  fails_at_ = QuietProcessors::kWaits;
  look();
  EXPECT_THAT(allowed_, IsEmpty());
}

TEST(QuietProcessors, DoNothingWhereInterruptsAreRare) {
  uint64_t count = 0;
  int allowed = 0;
  QuietProcessors quiet([&] { return fmt::format("CPU0 CPU1\n1: {} 0 disk\n", ++count); },
                        [&](const cpu_set_t&) { ++allowed; }, set_of({0, 1}));
  quiet.look(kStart, [] { return true; });
  EXPECT_EQ(allowed, 0);
}

TEST(QuietProcessors, LeaveTheThreadWhereThereIsOneOnly) {
  uint64_t count = 0;
  int allowed = 0;
  QuietProcessors quiet([&] { return fmt::format("CPU0\n1: {} gpu\n", count); },
                        [&](const cpu_set_t&) { ++allowed; }, set_of({0}));
  quiet.look(kStart, [&] { return ++count > 0; });
  EXPECT_EQ(allowed, 0);
}

}  // namespace
}  // namespace kenaz::device::vulkan

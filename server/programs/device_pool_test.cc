#include "server/programs/device_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testdata/echo_engine.h"

namespace kenaz {
namespace {

using testing::ElementsAre;
using Load = DevicePool::Load;

std::shared_ptr<DevicePool> pool_of(size_t size) {
  std::vector<PooledDevice> devices(size);
  for (auto& d : devices) d.programs = only_program(std::make_shared<EchoEngine>());
  return std::make_shared<DevicePool>(std::move(devices));
}

TEST(DevicePool, SessionsComeBeforeCallsAndCallsBeforeBytes) {
  const auto least = [](std::vector<Load> loads) { return DevicePool::least_loaded(loads); };
  EXPECT_EQ(least({{false, 2, 0, 0}, {false, 1, 9, 9}, {false, 3, 0, 0}}), 1u);
  EXPECT_EQ(least({{false, 1, 2, 0}, {false, 1, 1, 9}}), 1u);
  EXPECT_EQ(least({{false, 1, 1, 5}, {false, 1, 1, 4}}), 1u);
  EXPECT_EQ(least({{false, 1, 1, 5}, {false, 1, 1, 5}}), 0u);
}

TEST(DevicePool, ALostDeviceIsTakenOnlyWhereThereIsNoOther) {
  const auto least = [](std::vector<Load> loads) { return DevicePool::least_loaded(loads); };
  EXPECT_EQ(least({{true, 0, 0, 0}, {false, 9, 9, 9}}), 1u);
  EXPECT_EQ(least({{true, 1, 0, 0}, {true, 0, 0, 0}}), 1u);
}

TEST(DevicePool, DevicesHaveNumbers) {
  const auto pool = pool_of(2);
  EXPECT_EQ(pool->find("#0"), 0u);
  EXPECT_EQ(pool->find("#1"), 1u);
  for (const char* no : {"#2", "1", "#", "#01", "", "#-1"}) EXPECT_FALSE(pool->find(no)) << no;
}

std::vector<int64_t> sessions(const DevicePool& pool) {
  std::vector<int64_t> all;
  for (const auto& d : pool.figures()) all.push_back(d.sessions);
  return all;
}

TEST(DevicePool, PlacementsAreSpreadAndCountedUntilTheyGo) {
  const auto pool = pool_of(3);
  std::vector<Placement> placements;
  for (int i = 0; i < 4; ++i) placements.emplace_back(pool, pool->least_loaded());
  EXPECT_THAT(sessions(*pool), ElementsAre(2, 1, 1));
  EXPECT_NE(placements[0].owner(), placements[3].owner());  // of the same device
  placements.pop_back();
  EXPECT_THAT(sessions(*pool), ElementsAre(1, 1, 1));
  placements[0] = Placement(pool, 2);
  EXPECT_THAT(sessions(*pool), ElementsAre(0, 1, 2));
  EXPECT_EQ(pool->least_loaded(), 0u);
}

TEST(DevicePool, CallsAreCountedWhileTheyAreAtHand) {
  const auto pool = pool_of(2);
  Placement first(pool, 0), second(pool, 1);
  first.call_begins();
  EXPECT_EQ(pool->figures()[0].calls_at_hand, 1);
  EXPECT_EQ(pool->least_loaded(), 1u);
  first.called(0.5);
  first.call_ended();
  first.call_ended();
  EXPECT_EQ(pool->figures()[0].calls_at_hand, 0);
  EXPECT_EQ(pool->figures()[0].calls, 1);
  EXPECT_EQ(pool->figures()[0].seconds, 0.5);
  EXPECT_EQ(pool->figures()[1].calls, 0);
  {
    Placement gone(pool, 0), late = std::move(gone);
    late.call_begins();
  }
  EXPECT_EQ(pool->figures()[0].calls_at_hand, 0);
}

TEST(DevicePool, FiguresOfDevicesAreInTheMetrics) {
  const auto pool = pool_of(2);
  const Placement place(pool, 1);
  place.called(2);
  const Metrics metrics;
  const std::string text = metrics.prometheus(pool->figures());
  for (const char* line :
       {"\nkenaz_device_sessions{device=\"#1\",name=\"reference evaluator\"} 1\n",
        "\nkenaz_device_calls_total{device=\"#0\",name=\"reference evaluator\"} 0\n",
        "\nkenaz_device_call_seconds_total{device=\"#1\",name=\"reference evaluator\"} 2\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(line));
  }
  EXPECT_THAT(metrics.lines(pool->figures()),
              testing::IsSupersetOf({"device_1_sessions 1", "device_0_sessions 0",
                                     "device_1_call_microseconds_total 2000000"}));
  EXPECT_THAT(metrics.lines(pool_of(1)->figures()),
              testing::Not(testing::Contains(testing::StartsWith("device_0"))));
}

}  // namespace
}  // namespace kenaz

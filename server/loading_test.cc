#include "server/loading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kenaz {
namespace {

using testing::ElementsAre;

TEST(NamedDevices, AreSeparatedByCommas) {
  EXPECT_THAT(*named_devices("cpu"), ElementsAre("cpu"));
  EXPECT_THAT(*named_devices(""), ElementsAre(""));
  EXPECT_THAT(*named_devices("#0,#3"), ElementsAre("#0", "#3"));
  EXPECT_THAT(*named_devices("cpu, NVIDIA H200 ,cpu"), ElementsAre("cpu", "NVIDIA H200", "cpu"));
}

TEST(NamedDevices, HaveNames) {
  for (const char* bad : {",", "cpu,", ",cpu", "cpu,,cpu", " ", "cpu,all"}) {
    EXPECT_FALSE(named_devices(bad)) << bad;
  }
}

TEST(NamedDevices, AllAreThoseThatCanBeUsed) {
  const auto all = named_devices("all");
  ASSERT_TRUE(all) << all.error().text();
  ASSERT_FALSE(all->empty());
  for (const auto& name : *all) EXPECT_EQ(name[0], '#');
}

}  // namespace
}  // namespace kenaz

#include "client/testing/autotune.h"

#include <gtest/gtest.h>

#include <limits>

namespace kenaz::testing {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

TEST(BestThreshold, StaysWhereNothingIsBetter) {
  EXPECT_EQ(best_threshold({}, 256), 256);
  EXPECT_EQ(best_threshold({{{100}, {10, 10}}}, 256), 256);
  EXPECT_EQ(best_threshold({{{100}, {97, 100}}}, 256), 256);  // not by 5 %
  EXPECT_EQ(best_threshold({{{100}, {20, 10}}}, 256), 256);   // above 100 already
}

TEST(BestThreshold, MovesJustSoFarThatTheFasterWayIsTaken) {
  EXPECT_EQ(best_threshold({{{100}, {10, 20}}}, 256), 100);
  EXPECT_EQ(best_threshold({{{1000}, {20, 10}}}, 256), 1001);
}

TEST(BestThreshold, WeighsDatasetsByTheirRatios) {
  // The larger gains eightfold, the smaller loses half.
  EXPECT_EQ(best_threshold({{{100}, {10, 80}}, {{50}, {20, 10}}}, 256), 100);
  // At the same size one of them has to lose.
  EXPECT_EQ(best_threshold({{{100}, {10, 80}}, {{100}, {20, 10}}}, 256), 100);
  EXPECT_EQ(best_threshold({{{100}, {10, 20}}, {{100}, {80000, 10000}}}, 10), 101);
}

TEST(BestThreshold, BetweenSeveralSizesOfOneDataset) {
  EXPECT_EQ(best_threshold({{{10, 100, 1000}, {40, 30, 10, 20}}}, 5), 101);
  EXPECT_EQ(best_threshold({{{10, 100, 1000}, {40, 30, 10, 20}}}, 5000), 1000);
}

TEST(BestThreshold, LeavesWaysThatFail) {
  EXPECT_EQ(best_threshold({{{100}, {kFailed, 50}}}, 1), 101);
}

TEST(TuningText, NamesWhatChangesAndSaysWhatDoesNot) {
  EXPECT_EQ(tuning_text({{"a", 5, 256, 2, 1.5}, {"b", 256, 256, 1, 1}, {"c", 256, 256, 0, 1}}),
            "a=5\n-- b is best as it is\n-- c was compared in no run\n");
}

}  // namespace
}  // namespace kenaz::testing

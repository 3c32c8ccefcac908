#include "client/bench/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kenaz::bench {
namespace {

using Series = std::vector<double>;

TEST(Statistics, MeanAndMedian) {
  EXPECT_EQ(mean(Series{}), 0);
  EXPECT_EQ(median(Series{}), 0);
  EXPECT_EQ(mean(Series{1, 2, 6}), 3);
  EXPECT_EQ(median(Series{6, 1, 2}), 2);
  EXPECT_EQ(median(Series{6, 1, 2, 3}), 2.5);
}

TEST(Statistics, RelativeStandardError) {
  // The deviations are 2, 1, 0, 1, 2: the variance 10 / 4, the standard error sqrt(2.5 / 5).
  EXPECT_NEAR(relative_standard_error(Series{8, 9, 10, 11, 12}), std::sqrt(0.5) / 10, 1e-12);
  EXPECT_EQ(relative_standard_error(Series{7}), 0);
  EXPECT_EQ(relative_standard_error(Series{0, 0, 0}), 0);
}

TEST(Statistics, Autocorrelation) {
  // Deviations -2 -1 0 1 2: products 2 + 0 + 0 + 2, squares 10.
  EXPECT_NEAR(autocorrelation(Series{1, 2, 3, 4, 5}), 0.4, 1e-12);
  EXPECT_NEAR(autocorrelation(Series{1, -1, 1, -1}), -0.75, 1e-12);
  EXPECT_EQ(autocorrelation(Series{3, 3, 3}), 0);
}

TEST(Statistics, DependentRunsMustAgreeBetter) {
  // 200 values of the same spread: alternating, and as one step.
  Series alternating, step;
  for (int i = 0; i < 200; ++i) {
    alternating.push_back(i % 2 == 0 ? 95 : 105);
    step.push_back(i < 100 ? 95 : 105);
  }
  EXPECT_NEAR(relative_standard_error(alternating), relative_standard_error(step), 1e-12);
  EXPECT_LT(relative_standard_error(step), 0.005);
  EXPECT_GT(autocorrelation(step), 0.95);
  EXPECT_TRUE(is_settled(alternating));
  EXPECT_FALSE(is_settled(step));
  EXPECT_TRUE(is_settled(Series{5, 5, 5}));
  EXPECT_FALSE(is_settled(Series{5, 10, 5, 10, 5, 10}));  // an error of 15%
}

TEST(Statistics, WhereTheMedianLies) {
  Series xs;
  for (int i = 100; i > 0; --i) xs.push_back(i);
  // Ranks 40 and 61 of 100, as tables of the sign test have them.
  EXPECT_EQ(median_interval(xs).low, 40);
  EXPECT_EQ(median_interval(xs).high, 61);
  EXPECT_EQ(median_interval(Series{2, 1, 3}).low, 1);
  EXPECT_EQ(median_interval(Series{2, 1, 3}).high, 3);
}

TEST(Statistics, DifferencesByRank) {
  // U = 0 of 8 and 8: z = (32 - 0.5) / sqrt(8 * 8 * 17 / 12), as done by hand.
  const Series low{1, 2, 3, 4, 5, 6, 7, 8}, high{11, 12, 13, 14, 15, 16, 17, 18};
  const double z = 31.5 / std::sqrt(8.0 * 8 * 17 / 12);
  EXPECT_NEAR(chance_of_difference(low, high), std::erfc(z / std::sqrt(2.0)), 1e-12);
  EXPECT_NEAR(chance_of_difference(high, low), chance_of_difference(low, high), 1e-12);
  EXPECT_LT(chance_of_difference(low, high), 0.001);
  EXPECT_EQ(chance_of_difference(low, low), 1);
  EXPECT_EQ(chance_of_difference(Series{5, 5}, Series{5, 5, 5}), 1);
  EXPECT_EQ(chance_of_difference(Series{}, low), 1);
}

}  // namespace
}  // namespace kenaz::bench

#include "client/bench/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/bench/axis.h"

namespace kenaz::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<double> labelled(const LogAxis& axis) {
  std::vector<double> all;
  for (const Tick& t : axis.ticks()) {
    if (t.labelled) all.push_back(t.value);
  }
  return all;
}

TEST(BenchAxis, BeginsAndEndsAtRoundNumbers) {
  EXPECT_EQ(round_down(7), 5);
  EXPECT_EQ(round_down(1000), 1000);
  EXPECT_EQ(round_up(1000), 1000);
  EXPECT_EQ(round_up(1001), 2000);
  EXPECT_NEAR(round_down(0.7), 0.5, 1e-12);
  const LogAxis axis(3, 700);
  EXPECT_EQ(axis.low(), 2);
  EXPECT_EQ(axis.high(), 1000);
  EXPECT_EQ(axis.share(2), 0);
  EXPECT_EQ(axis.share(1000), 1);
  const LogAxis one(10, 10);
  EXPECT_LT(one.low(), 10);
  EXPECT_GT(one.high(), 10);
}

TEST(BenchAxis, HasFewLabels) {
  EXPECT_EQ(labelled(LogAxis(10, 200)), (std::vector<double>{10, 20, 50, 100, 200}));
  EXPECT_EQ(labelled(LogAxis(10, 20000)), (std::vector<double>{10, 100, 1000, 10000}));
  EXPECT_EQ(LogAxis(10, 20000).ticks().size(), 11);
  EXPECT_LE(labelled(LogAxis(1, 1e18)).size(), 9);
  EXPECT_GE(labelled(LogAxis(1, 1e18)).size(), 4);
}

Dataset dataset(const std::string& name, double time) {
  Dataset d;
  d.name = name;
  d.runtimes = {time, time, time};
  return d;
}

TEST(BenchChart, SeriesAreEntriesBySize) {
  const Results one = {{"a.fut", "f", {dataset("[100]i32", 5), dataset("[10]i32", 0)}},
                       {"a.fut", "g", {dataset("small", 5)}}};
  auto series = series_of({{"now", one}});
  ASSERT_EQ(series.size(), 1);  // g has no sizes
  EXPECT_EQ(series[0].name, "f");
  ASSERT_EQ(series[0].points.size(), 2);
  EXPECT_EQ(series[0].points[0].size, 10);
  EXPECT_EQ(series[0].points[0].time, 0.5);  // less than the clock counts
  EXPECT_EQ(series[0].points[1].time, 5);
  series = series_of({{"now", one}, {"then", {{"b.fut", "main", {dataset("[10]i32", 1)}}}}});
  ASSERT_EQ(series.size(), 2);
  EXPECT_EQ(series[0].name, "a.fut:f, now");
  EXPECT_EQ(series[1].name, "b.fut, then");
}

TEST(BenchChart, HasTicksLabelsAndALegend) {
  std::vector<Series> series = {{"f <&> \"g\"", {{1000, 10, 9, 11}, {100000, 2000, 1000, 3000}}},
                                {"other", {{1000, 50, 50, 50}}}};
  const auto svg = chart_svg(series);
  ASSERT_TRUE(svg) << svg.error().text();
  for (const char* part :
       {"size (elements)", "run time", ">10 µs<", ">1 ms<", ">1000<",
        ">10<tspan dy=\"-5\" font-size=\"9\">5</tspan><", "f &lt;&amp;&gt; &quot;g&quot;",
        ">other<", "stroke-dasharray=\"7 3\"", "<polygon", "<circle"}) {
    EXPECT_THAT(*svg, HasSubstr(part));
  }
  EXPECT_THAT(*svg, Not(HasSubstr("nan")));
  EXPECT_FALSE(chart_svg({}));
}

}  // namespace
}  // namespace kenaz::bench

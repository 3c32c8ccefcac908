#include "client/bench/progress.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

TEST(BenchProgress, Text) {
  EXPECT_EQ(bar_text("main [10]i32", 0.5, 7, 80),
            "main [10]i32  [############............]  7 runs");
  EXPECT_EQ(bar_text("main [10]i32", 2, 7, 80), "main [10]i32  [########################]  7 runs");
  EXPECT_LT(bar_text(std::string(200, 'x'), 0, 1000000, 60).size(), 60);
}

TEST(BenchProgress, IsDrawnSeldomAndCleared) {
  std::string out;
  Progress progress([&](std::string_view text) { out += text; });
  for (int k = 0; k < 100; ++k) progress.show("x", k / 100.0, 1, k / 1000.0);
  EXPECT_EQ(out, "\r\x1b[K" + bar_text("x", 0, 1, 80));
  out.clear();
  progress.clear();
  progress.clear();
  EXPECT_EQ(out, "\r\x1b[K");
  Progress hidden(nullptr);
  hidden.show("x", 0, 1, 0);
}

}  // namespace
}  // namespace kenaz::bench

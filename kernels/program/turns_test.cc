#include "kernels/program/turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace kenaz::program {
namespace {

bool few(const Turns& turns, const std::vector<double>& args, const LaunchSize& size = {}) {
  return are_few(turns, size, [&](int n) { return args[static_cast<size_t>(n)]; });
}

TEST(Turns, AreFewUpToSoMany) {
  const Turns product{{1, {0, 1}}};
  EXPECT_TRUE(few(product, {512, 512}));
  EXPECT_FALSE(few(product, {512, 513}));
  EXPECT_TRUE(few(product, {0, 1e18}));
  EXPECT_FALSE(few({{1, {0}}, {1, {1}}}, {200000, 100000}));
  EXPECT_TRUE(few({{0.5, {0}}, {2, {}}}, {400000}));
}

TEST(Turns, AreNotKnownOfNegativeArguments) {
  EXPECT_FALSE(few({{1, {0}}}, {-1}));
  EXPECT_FALSE(few({{1, {0, 1}}}, {0, -1}));
}

TEST(Turns, AreSharedByThreadsAndWorkgroups) {
  const LaunchSize size{256, 4};
  EXPECT_TRUE(few({{1, {kPerThread, 0}}}, {256.0 * (1 << 18)}, size));
  EXPECT_FALSE(few({{1, {kPerThread, 0}}}, {257.0 * (1 << 18)}, size));
  EXPECT_TRUE(few({{1, {kPerGroup, 0}}}, {4.0 * (1 << 18)}, size));
  EXPECT_FALSE(few({{1, {kPerGroup, 0}}}, {5.0 * (1 << 18)}, size));
  EXPECT_TRUE(few({{1, {kGroups, 0}}}, {1 << 16}, size));
  EXPECT_FALSE(few({{1, {kGroups, 0}}}, {1 << 17}, size));
}

}  // namespace
}  // namespace kenaz::program

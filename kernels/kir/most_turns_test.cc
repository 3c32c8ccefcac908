#include "kernels/kir/most_turns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/kir/parse.h"

namespace kenaz::kir {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Of a kernel of this body, the terms that are not only there so that nothing wraps. v0 is the
/// argument n, v1 m, both i64; v2 the block xs.
std::string turns(const std::string& body, const std::string& functions = "") {
  const auto kernel = parse(
      "kernel \"k\" group 64\narg v0: i64 \"n\"\narg v1: i64 \"m\"\n"
      "block v2 \"xs\"\n" +
      functions + "main {\n" + body + "}\n");
  if (!kernel) return kernel.error().message;
  const program::Turns all = most_turns(*kernel);
  if (all.empty()) return "unknown";
  std::string text;
  for (const program::Term& term : all) {
    constexpr double kLeast = 1e-6;
    if (term.coefficient < kLeast) continue;
    text += fmt::format("{}{:.6g}", text.empty() ? "" : " + ", term.coefficient);
    for (const int n : term.factors) {
      text += n == program::kGroups      ? " groups"
              : n == program::kPerGroup  ? " /groups"
              : n == program::kPerThread ? " /threads"
                                         : " " + kernel->args[static_cast<size_t>(n)].name;
    }
  }
  return text;
}

/// A loop by this step, with a store in it.
std::string loop(int index, const std::string& from, const std::string& to,
                 const std::string& body = "", const std::string& step = "1i64") {
  return fmt::format("for v{0}: i64 = {1} to {2} step {4} {{\nstore v2[v{0}] = 1.0f32\n{3}}}\n",
                     index, from, to, body, step);
}

TEST(MostTurns, OfLoops) {
  EXPECT_EQ(turns(loop(9, "0i64", "v0")), "1 n");
  EXPECT_EQ(turns(loop(9, "0i64", "v0", "", "4i64")), "1 + 0.25 n");
  EXPECT_EQ(turns(loop(8, "0i64", "v0") + loop(9, "0i64", "v1")), "1 n + 1 m");
  EXPECT_EQ(turns(loop(8, "0i64", "v0", loop(9, "0i64", "v1"))), "1 n + 1 n m");
  EXPECT_EQ(turns(loop(9, "0i64", "20i64")), "unknown") << "such loops do not look";
  EXPECT_EQ(turns(loop(8, "0i64", "v0", loop(9, "0i64", "20i64"))), "1 n");
  EXPECT_EQ(turns(loop(8, "0i64", "v0", loop(9, "v8", "v0"))), "1 n + 1 n n");
}

TEST(MostTurns, OfWhatIsInMemory) {
  EXPECT_EQ(turns("v3: i64 = load v2[0i64]\n" + loop(9, "0i64", "v3")), "unknown");
  EXPECT_EQ(turns("v3: i64 = load v2[0i64]\nv4: i64 = min.i64(v3, v0)\n" + loop(9, "0i64", "v4")),
            "1 n");
  EXPECT_EQ(turns("v3: i64 = load v2[0i64]\n" + loop(9, "v3", "v0")), "unknown")
      << "it may begin with a negative number";
}

TEST(MostTurns, OfDistances) {
  EXPECT_EQ(turns("v3: i64 = load v2[0i64]\nv4: i64 = add.i64(v3, v1)\n" + loop(9, "v3", "v4")),
            "1 m");
  EXPECT_EQ(turns("v3: i64 = sub.i64(v0, v1)\n" + loop(9, "0i64", "v3")), "1 n");
  EXPECT_EQ(turns("v3: i64 = sub.i64(v0, -7i64)\n" + loop(9, "0i64", "v3")), "7 + 1 n");
  EXPECT_EQ(turns("v3: i64 = quot.i64(v0, 32i64)\n" + loop(9, "0i64", "v3")), "0.03125 n");
  EXPECT_EQ(turns("v3: i64 = load v2[0i64]\nv4: i64 = sub.i64(v0, v3)\n" + loop(9, "0i64", "v4")),
            "unknown");
  EXPECT_EQ(turns("v3: i64 = quot.i64(v0, v1)\nv4: i64 = mul.i64(v3, v1)\n"
                  "v5: i64 = sub.i64(v0, v4)\n" +
                  loop(9, "0i64", "v5")),
            "1 n")
      << "a remainder";
}

TEST(MostTurns, OfWhatMayWrap) {
  const std::string loaded =
      "v3: i64 = load v2[0i64]\nv4: i64 = add.i64(v3, 5i64)\n"
      "v5: i64 = add.i64(v3, 3i64)\n";
  EXPECT_EQ(turns(loaded + loop(9, "v4", "v5")), "unknown") << "v4 may be negative";
  EXPECT_EQ(turns(loaded + "v6: i64 = add.i64(v5, v0)\n" + loop(9, "v5", "v6")), "1 n");
  for (const std::string op : {"div", "quot"}) {
    const std::string by = "v3: i64 = " + op +
                           ".i64(v0, -1099511627776i64)\n"
                           "v4: i64 = mul.i64(v3, -1099511627776i64)\n";
    EXPECT_EQ(turns(by + loop(9, "0i64", "v4")), "unknown");
    EXPECT_EQ(turns(by + "v5: i64 = sub.i64(v0, v4)\n" + loop(9, "0i64", "v5")), "unknown");
  }
}

TEST(MostTurns, OfThreadsTogether) {
  const std::string all =
      "v3: i64 = groups\nv4: i32 = group_size\nv5: i64 = convert.i32.i64(v4)\n"
      "v6: i64 = mul.i64(v3, v5)\n";
  EXPECT_EQ(turns(all + loop(9, "0i64", "v0", "", "v6")), "1 + 1 /threads n");
  EXPECT_EQ(turns(all + loop(9, "0i64", "v0", "", "v3")), "1 + 1 /groups n");
  EXPECT_EQ(
      turns("v3: i32 = local\nv4: i64 = convert.i32.i64(v3)\n" + loop(9, "v4", "v0", "", "64i64")),
      "1 + 0.015625 n");
  EXPECT_EQ(turns("v3: i64 = group\nv4: i64 = mul.i64(v3, v1)\nv5: i64 = add.i64(v4, v1)\n"
                  "v6: i64 = min.i64(v5, v0)\n" +
                  loop(9, "v4", "v6")),
            "1 m")
      << "a tile";
}

TEST(MostTurns, OfFunctions) {
  const std::string f = "fun f0 \"f\" (v3: i64) {\n" + loop(9, "0i64", "v3") + "return\n}\n";
  EXPECT_EQ(turns("call f0(v1)\n", f), "1 m");
  EXPECT_EQ(turns("call f0(v1)\ncall f0(v0)\n", f), "2 n + 2 m");
  EXPECT_EQ(turns(loop(8, "0i64", "v0", "call f0(v8)\n"), f), "1 n + 1 n n");
}

std::string counted(const std::string& first, const std::string& test, const std::string& next) {
  return "v3: bool = load v2[0i64]\nvar x0: i64 = " + first + "\nwhile {\nv4: i64 = x0\n" + test +
         "} test v5 {\nstore v2[v4] = 1.0f32\n" + next + "x0 = v6\n}\n";
}

TEST(MostTurns, OfLoopsThatCount) {
  const std::string below = "v7: bool = lt.i64(v4, v0)\nv5: bool = and.bool(v3, v7)\n";
  const std::string above = "v5: bool = lt.i64(0i64, v4)\n";
  const std::string up = "v6: i64 = add.i64(v4, 1i64)\n", down = "v6: i64 = add.i64(v4, -1i64)\n";
  EXPECT_EQ(turns(counted("0i64", below, up)), "1 n");
  EXPECT_EQ(turns(counted("v1", above, down)), "1 m");
  EXPECT_EQ(turns(counted("0i64", below, down)), "unknown");
  EXPECT_EQ(turns(counted("v1", above, up)), "unknown");
  EXPECT_EQ(turns(counted("0i64", "v7: bool = lt.i64(v4, v0)\nv5: bool = or.bool(v3, v7)\n", up)),
            "unknown");
  // Compared is what the variable was before the loop, or counted from there.
  EXPECT_EQ(turns("var x0: i64 = 0i64\nv4: i64 = x0\nv5: bool = lt.i64(v4, v0)\nwhile {\n"
                  "} test v5 {\nstore v2[v4] = 1.0f32\nv6: i64 = add.i64(v4, 1i64)\nx0 = v6\n}\n"),
            "unknown");
}

}  // namespace
}  // namespace kenaz::kir

#include "kernels/op/kept.h"

#include <gtest/gtest.h>

#include "kernels/ir/parse.h"

namespace kenaz::op {
namespace {

using Ties = Kept::Ties;

/// What is seen of an operator on (f32, i64) with operands x, i and y, j: which key's greater or
/// smaller operand is kept, and which of equal ones; empty if nothing.
std::string kept_by(const std::string& body) {
  const auto p = ir::parse(
      "fun f(n: i64, xs: [n]f32, is: [n]i64) -> (f32, i64) {\n"
      "let (a: f32, b: i64) = soac (n; xs, is) map \\(p: f32, q: i64) -> (f32, i64) {\n"
      "return p, q\n"
      "} reduce \\(x: f32, i: i64, y: f32, j: i64) -> (f32, i64) {\n" +
      body + "\n} {0.0f32, 0i64}\nreturn a, b\n}\n");
  EXPECT_TRUE(p.has_value()) << p.error().text();
  if (!p) return "";
  const auto& soac = std::get<ir::ESoac>(p->functions[0].body.stms[0].exp);
  const auto kept = keeps(*p, soac.reduces[0].op);
  if (!kept) return "";
  const char* ties[] = {"first", "second", "asks"};
  return std::string(kept->greatest ? "greatest " : "smallest ") + (kept->key == 0 ? "x" : "i") +
         ", " + ties[static_cast<int>(kept->ties)];
}

TEST(Kept, OneComparisonOfOneScalar) {
  EXPECT_EQ(kept_by("let c: bool = lt.f32(y, x)\n"
                    "let a1: f32 = select.f32(c, x, y)\nlet b1: i64 = select.i64(c, i, j)\n"
                    "return a1, b1"),
            "greatest x, second");
  EXPECT_EQ(kept_by("let c: bool = le.i64(i, j)\n"
                    "let (a1: f32, b1: i64) = if c then {\nreturn x, i\n} else {\nreturn y, j\n}\n"
                    "return a1, b1"),
            "smallest i, first");
  EXPECT_EQ(kept_by("let c: bool = lt.f32(x, y)\nlet d: bool = not.bool(c)\n"
                    "let a1: f32 = select.f32(d, x, y)\nlet b1: i64 = select.i64(c, j, i)\n"
                    "return a1, b1"),
            "greatest x, first");
}

TEST(Kept, OthersDecideOfEqualOnes) {
  EXPECT_EQ(kept_by("let c: bool = lt.f32(x, y)\nlet e: bool = eq.f32(x, y)\n"
                    "let d: bool = lt.i64(j, i)\nlet f1: bool = and.bool(e, d)\n"
                    "let g: bool = or.bool(c, f1)\n"
                    "let a1: f32 = select.f32(g, y, x)\nlet b1: i64 = select.i64(g, j, i)\n"
                    "return a1, b1"),
            "greatest x, asks");
  EXPECT_EQ(kept_by("let m: f32 = min.f32(x, y)\nlet c: bool = lt.f32(x, y)\n"
                    "let b1: i64 = if c then {\nreturn i\n} else {\n"
                    "let d: bool = lt.f32(y, x)\nlet l: i64 = min.i64(i, j)\n"
                    "let r: i64 = select.i64(d, j, l)\nreturn r\n}\n"
                    "return m, b1"),
            "smallest x, asks");
  EXPECT_EQ(kept_by("let c: bool = ne.f32(x, y)\n"
                    "let (a1: f32, b1: i64) = if c then {\n"
                    "let d: bool = le.f32(x, y)\n"
                    "let a2: f32 = select.f32(d, y, x)\nlet b2: i64 = select.i64(d, j, i)\n"
                    "return a2, b2\n} else {\nlet l: i64 = max.i64(i, j)\nreturn x, l\n}\n"
                    "return a1, b1"),
            "greatest x, asks");
}

TEST(Kept, NotIfTheResultIsMadeOfBoth) {
  // The greatest, and how many they are.
  EXPECT_EQ(kept_by("let m: f32 = max.f32(x, y)\nlet k: i64 = add.i64(i, j)\nreturn m, k"), "");
  // .. or how many are the greatest.
  EXPECT_EQ(kept_by("let m: f32 = max.f32(x, y)\nlet c: bool = lt.f32(x, y)\n"
                    "let b1: i64 = if c then {\nreturn j\n} else {\n"
                    "let d: bool = lt.f32(y, x)\nlet k: i64 = add.i64(i, j)\n"
                    "let r: i64 = select.i64(d, i, k)\nreturn r\n}\n"
                    "return m, b1"),
            "");
  // The greatest of each.
  EXPECT_EQ(kept_by("let m: f32 = max.f32(x, y)\nlet k: i64 = max.i64(i, j)\nreturn m, k"), "");
  // Operands that change places.
  EXPECT_EQ(kept_by("let c: bool = lt.f32(x, y)\n"
                    "let a1: f32 = select.f32(c, x, y)\nlet b1: i64 = select.i64(c, j, i)\n"
                    "return a1, b1"),
            "");
  // Always the second.
  EXPECT_EQ(kept_by("return y, j"), "");
  // By a number that neither has.
  EXPECT_EQ(kept_by("let s: f32 = add.f32(x, y)\nlet c: bool = lt.f32(s, x)\n"
                    "let a1: f32 = select.f32(c, x, y)\nlet b1: i64 = select.i64(c, i, j)\n"
                    "return a1, b1"),
            "");
}

}  // namespace
}  // namespace kenaz::op

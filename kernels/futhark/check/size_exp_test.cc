// Sizes that are expressions, in types and as arguments.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::HasSubstr;

const auto kDiffer = HasSubstr("do not match");

TEST(SizeExpressions, ConditionalsAreComparedAsTheyAreWritten) {
  const std::string f = "def f (b: bool) (n: i64) (m: i64) ";
  EXPECT_EQ(type_in(f + "(xs: [if b then n else m]i32) : [if b then n else m]i32 = xs"),
            "(b: bool) -> (n: i64) -> (m: i64) -> [if b then n else m]i32 -> "
            "[if b then n else m]i32");
  EXPECT_EQ(error_of(f + ": [if b then n else m]i64 = iota (if b then n else m)"), "accepted");
  EXPECT_THAT(error_of(f + ": [if b then n else m]i64 = iota (if b then m else n)"),
              HasSubstr("Sizes \"if b then n else m\" and \"if b then m else n\" do not match."));
  EXPECT_THAT(error_of(f + "(xs: [if b then n else m]i32) : [n]i32 = xs"), kDiffer);
  EXPECT_THAT(error_of(f + "= let xs : [if b then n else m]i64 = iota n in xs"), kDiffer);
  EXPECT_THAT(error_of(f + "(xs: []i64) : [n]i64 = xs :> [if b then n else m]i64"), kDiffer);
  EXPECT_THAT(error_of("def f (a: bool) (b: bool) (xs: [if a && b then 2 else 3]i32)"
                       " : [if a || b then 2 else 3]i32 = xs"),
              HasSubstr("\"if a || b then 2 else 3\" and \"if a && b then 2 else 3\""));
  EXPECT_THAT(error_of("def f (k: i32) (xs: [if k > 10 then 2 else 3]i32)"
                       " : [if k > 11 then 2 else 3]i32 = xs"),
              kDiffer);
}

TEST(SizeExpressions, CallersSeeTheirArgumentsInThem) {
  const std::string f =
      "def f (b: bool) (n: i64) : [if b then n else 3]i64 = iota (if b then n else 3)\n";
  EXPECT_EQ(error_of(f + "def g (n: i64) = map2 (+) (f true n) (f true n)"), "accepted");
  EXPECT_THAT(error_of(f + "def g (n: i64) = map2 (+) (f true n) (f false n)"),
              HasSubstr("\"if true then n else 3\" and \"if false then n else 3\""));
  EXPECT_THAT(error_of(f + "def g (n: i64) : [n]i64 = f true n"), kDiffer);
  EXPECT_EQ(error_of("def f (g: (b: bool) -> [if b then 2 else 3]i64)"
                     " : [if true then 2 else 3]i64 = g true"),
            "accepted");
}

TEST(SizeExpressions, ThatBindNamesAreLikeNoOthers) {
  for (const std::string size :
       {"let x = n in x", "loop x = n for i < 3i32 do x", "match n case x -> x", "(\\x -> x) n"}) {
    EXPECT_THAT(error_of("def f (n: i64) : [n]i64 = iota (" + size + ")"), kDiffer) << size;
    EXPECT_THAT(error_of("def f (n: i64) : [" + size + "]i64 = iota n"), kDiffer) << size;
    EXPECT_THAT(error_of("def f (n: i64) (xs: [" + size + "]i64) : [n]i64 = xs"), kDiffer) << size;
    EXPECT_THAT(error_of("def f (n: i64) (xs: []i64) : [n]i64 = xs :> [" + size + "]i64"), kDiffer)
        << size;
    EXPECT_THAT(error_of("def f (n: i64) (xs: [" + size +
                         "]i64) = map (+ 1) xs\n"
                         "def g (n: i64) = f n (iota n)"),
                kDiffer)
        << size;
    EXPECT_EQ(error_of("def f (n: i64) (xs: [" + size + "]i64) = map (+ 1) xs"), "accepted")
        << size;
    EXPECT_THAT(error_of("type t = [" + size + "]i64"), ::testing::Not("accepted")) << size;
  }
  EXPECT_THAT(error_of("module type m = { val f : (n: i64) -> [let x = n in x]i64 }"),
              HasSubstr("Size expression with binding is forbidden"));
}

TEST(SizeExpressions, LengthsAreExpressions) {
  const std::string f = "def f [n] (xs: [n]i32) ";
  EXPECT_EQ(error_of(f + "(ys: [length xs]i32) : [length xs]i32 = ys"), "accepted");
  EXPECT_EQ(error_of(f + ": [length xs]i64 = iota (length xs)"), "accepted");
  EXPECT_THAT(error_of(f + ": [length xs]i64 = iota n"),
              HasSubstr("Sizes \"length xs\" and \"n\" do not match."));
  EXPECT_THAT(error_of(f + "(ys: [length xs]i32) = map2 (+) xs ys"), kDiffer);
  EXPECT_THAT(error_of(f + "(zs: [n]i32) (ys: [length xs]i32) : [length zs]i32 = ys"), kDiffer);
  const std::string g = "def g [n] (xs: [n]i32) (ys: [length xs]i64) = (xs, ys)\n";
  EXPECT_EQ(error_of(g + "def f (xs: []i32) = g xs (iota (length xs))"), "accepted");
  EXPECT_THAT(error_of(g + "def f [n] (xs: [n]i32) = g xs (iota n)"), kDiffer);
}

TEST(SizeExpressions, ElementsAndNegativeNumbers) {
  const std::string f = "def f (xs: [3]i64) (ys: [xs[0]]i32) ";
  EXPECT_EQ(error_of(f + ": [xs[0]]i32 = ys"), "accepted");
  EXPECT_THAT(error_of(f + ": [xs[1]]i32 = ys"), HasSubstr("\"xs[1]\" and \"xs[0]\""));
  EXPECT_THAT(error_of("def f (n: i64) : [n + -1]i64 = iota (n + 1)"), kDiffer);
  EXPECT_EQ(error_of("def f (n: i64) : [n + -1]i64 = iota (n + -1)"), "accepted");
  EXPECT_THAT(error_of("def f (n: i64) : [n]i64 = -1..2...n"), kDiffer);
}

}  // namespace
}  // namespace kenaz::check

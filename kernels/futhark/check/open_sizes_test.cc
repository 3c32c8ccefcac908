// Sizes that are not known yet where branches meet, and where the body of a loop ends.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kRep = "def rep 'a [n] (x: a) : [n]a = replicate n x\n";

TEST(OpenSizes, BranchesDoNotSolveThem) {
  const auto differ = AllOf(HasSubstr("do not match"), HasSubstr("is the size of a branch"));
  const std::string f = "def f [n] (xs: []i32) (ys: [n]i32) (b: bool) ";
  EXPECT_THAT(error_of(f + ": [n]i32 = if b then xs else ys"), differ);
  EXPECT_THAT(error_of(f + ": [n]i32 = match b case true -> xs case false -> ys"), differ);
  EXPECT_THAT(error_of(f + "= let zs : [n]i32 = if b then ys else xs in zs"), differ);
  EXPECT_THAT(error_of(f + "= map2 (+) ys (if b then xs else ys)"), differ);
  EXPECT_THAT(error_of(f + ": ([n]i32, bool) = if b then (xs, b) else (ys, b)"), differ);
  EXPECT_THAT(
      error_of(kRep + f + "= if b then rep 1 else ys"),
      HasSubstr("Ambiguous size \"n\" arising from instantiated size parameter of \"rep\""));
  EXPECT_EQ(type_in(f + "= if b then xs else ys"), "[d]i32 -> [n]i32 -> bool -> ?[d].[d]i32");
  // What the branches say of their own values holds.
  EXPECT_EQ(type_in(f + ": [n]i32 = if b then map2 (+) xs ys else ys"),
            "[n]i32 -> [n]i32 -> bool -> [n]i32");
  EXPECT_EQ(type_in(f + ": []i32 = if b then ??? else ys"), "[d]i32 -> [n]i32 -> bool -> [n]i32");
}

TEST(OpenSizes, ArgumentsAfterALambdaTellBranchesInsideNothing) {
  const std::string body = " -> f32.sum (map2 (+) zs (if n > 3 then map (+ 1) x else zs)) > 0) xss";
  const std::string f = "def f [n] (zs: [n]f32) (xss: [][n]f32) = filter (\\";
  EXPECT_THAT(error_of(f + "x" + body), HasSubstr("is the size of a branch: "));
  EXPECT_EQ(error_of(f + "(x: [n]f32)" + body), "accepted");
}

TEST(OpenSizes, BranchesSayThemselvesHowLargeThePartsOfSumsAre) {
  const std::string t = "type t [n] = #a ([n]i32) | #b\n";
  const std::string f = t + "def f [n] (xs: [n]i32) (b: bool) : t [n] = ";
  EXPECT_EQ(error_of(f + "if b then #a xs else #b"), "accepted");
  EXPECT_EQ(error_of(f + "match b case true -> #b case false -> #a xs"), "accepted");
  EXPECT_THAT(error_of(f + "if b then #b else #a (xs ++ xs)"), HasSubstr("do not match"));
  EXPECT_THAT(error_of("type~ t = #a ([]i32) | #b\n"
                       "def f (xs: []i32) : t =\n  if null xs\n  then #b\n"
                       "  else #a (filter (> 0) xs)"),
              AllOf(HasSubstr("4:8"), HasSubstr("needed for type of \"#b\"")));
  EXPECT_EQ(error_of("type~ t = #a ([]i32) | #b\n"
                     "def f (x: t) : t = match x case #b -> #a [] case _ -> x"),
            "accepted");
}

TEST(OpenSizes, LoopsKeepASizeOnlyIfTheBodySaysSo) {
  const auto changes = HasSubstr("is the size of a variable of a loop that changes");
  const std::string f = "def f [n] (xs: [n]i32) (ys: []i32) (b: bool) : [n]i32 = loop a = ";
  EXPECT_THAT(error_of(f + "xs for i < 3i32 do if b then a else xs"), changes);
  EXPECT_THAT(error_of(f + "xs for i < 3i32 do ys"), changes);
  EXPECT_THAT(error_of(f + "ys for i < 3i32 do xs"), changes);
  EXPECT_EQ(error_of(f + "xs for i < 3i32 do if b then a else map2 (+) a xs"), "accepted");
  EXPECT_EQ(error_of(f + "xs for i < 3i32 do map2 (+) a ys"), "accepted");
  EXPECT_EQ(error_of(f + "xs for i < 3i32 do if b then ??? else a"), "accepted");
}

TEST(OpenSizes, OfHolesInLoopsNothingIsKnown) {
  const auto ambiguous = HasSubstr(
      "Ambiguous size \"d\".\nNothing says what the size is that the loop's body returns.");
  EXPECT_THAT(error_of("def f (xs: []i32) = loop ys = xs for i < 3i32 do ???"), ambiguous);
  EXPECT_THAT(error_of("def f (xs: []i32) = loop (y, k) = (xs, 1i32) while k > 0 do (???, 2)"),
              ambiguous);
  EXPECT_THAT(error_of("def f (xs: []i32) = loop ys = xs for i < 3i32 do let z = ??? in z"),
              ambiguous);
  EXPECT_THAT(error_of("def f [n] (xs: [n]i32) : [n]i32 = loop ys = xs for i < 3i32 do ???"),
              HasSubstr("is the size of a variable of a loop that changes"));
  EXPECT_EQ(error_of("def f (x: i32) = loop y = x for i < 3i32 do ???"), "accepted");
  EXPECT_EQ(error_of("def f (xs: []i32) x = loop ys = xs for i < 3i32 do x"), "accepted");
}

TEST(OpenSizes, LoopsMayApplyFunctionsThatTakeAnySize) {
  const std::string f = "def f g (xs: []i32) = loop a = xs for i < 3i32 do g a\n";
  EXPECT_EQ(error_of(f + "def h [n] (xs: [n]i32) = f (map (+ 1)) xs"), "accepted");
  EXPECT_EQ(error_of(f + "def h [n] (xs: [n]i32) = f (\\a -> a ++ a) xs"), "accepted");
  EXPECT_THAT(error_of(f + "def h (xs: []i32) = f (\\(a: [3]i32) -> a) xs"),
              AllOf(HasSubstr("2:"), HasSubstr("do not match")));
  EXPECT_THAT(error_of(f + "def h (xs: []i32) = f (filter (> 1)) xs"), HasSubstr("2:"));
  EXPECT_THAT(error_of(f + "def h (xs: [3]i32) : [3]i32 = f (map (+ 1)) xs"),
              AllOf(HasSubstr("2:"), HasSubstr("do not match")));
  EXPECT_EQ(error_of("def f p (xs: []i32) = loop a = xs while p a do filter (> 1) a\n"
                     "def g (xs: []i32) = f (\\a -> length a > 2) xs"),
            "accepted");
  EXPECT_EQ(error_of("def f (xs: []i32) = (\\g -> loop a = xs for i < 3i32 do g a) (map (+ 1))"),
            "accepted");
  EXPECT_EQ(error_of("def f (xs: []i32) =\n"
                     "  (\\g -> loop a = xs for i < 3i32 do g a) (\\a -> a ++ a)"),
            "accepted");
  const std::string written = "def f (g: []i32 -> []i32) (xs: []i32) = ";
  EXPECT_EQ(error_of(written + "loop a = xs for i < 3i32 do g a\n"
                               "def h (xs: []i32) = f (filter (> 1)) xs"),
            "accepted");
  EXPECT_THAT(error_of("def f ys (xs: []i32) = loop a = xs for i < 3i32 do\n"
                       "  let b = map2 (+) a ys in filter (> 0) b"),
              HasSubstr("needed for type of a parameter"));
}

TEST(OpenSizes, ResultsOfMapsHaveOneSize) {
  const auto differ = HasSubstr("anonymous sizes");
  const std::string f = "def f [n] (xss: [n][3]i64) (ys: []i64) = map ";
  EXPECT_THAT(error_of(f + "(\\row -> iota (length row)) xss"), differ);
  EXPECT_THAT(error_of(f + "(\\row -> row[:row[0]]) xss"), differ);
  EXPECT_THAT(error_of(f + "(\\row -> iota (reduce (+) 0 row)) xss"), differ);
  EXPECT_EQ(error_of(f + "(\\_ -> iota (length ys)) xss"), "accepted");
  EXPECT_EQ(error_of(f + "(\\_ -> iota (reduce (+) 0 ys)) xss"), "accepted");
  EXPECT_THAT(error_of("def f [n] (ps: [n](i64, i64)) = map (\\p -> replicate p.0 p.1) ps"),
              differ);
  EXPECT_EQ(error_of("def h (ys: []i64) (x: i64) = replicate (i64.sum ys) x\n"
                     "def f [n] (xs: [n]i64) (ys: []i64) = map (h ys) xs"),
            "accepted");
}

TEST(OpenSizes, ALoopsPatternHidesItsIndex) {
  EXPECT_EQ(type_in("def f (n: i64) = loop i = 0i32 for i < n do i + 1"), "i64 -> i32");
  EXPECT_EQ(
      type_in("def f (xs: [](i64, bool)) = loop (a, b) = (0i32, 1) for (a, c) in xs do (a, b)"),
      "[d](i64, bool) -> (i32, i32)");
}

}  // namespace
}  // namespace kenaz::check

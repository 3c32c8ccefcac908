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

}  // namespace
}  // namespace kenaz::check

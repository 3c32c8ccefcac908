// Where types stand that have functions inside, sizes of their own, no equality, or no meaning.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Lifted, ElementsOfArraysAreOfOneSize) {
  const auto lifted = HasSubstr("is lifted");
  EXPECT_THAT(error_of("def f '~a (x: a) = [x]"), AllOf(lifted, HasSubstr("array element")));
  EXPECT_THAT(error_of("def f 'a (x: a) = x\ndef g '~b (x: b) = f x"), lifted);
  EXPECT_THAT(error_of("def f x = [x]\ndef g '~b (x: b) = f x"), lifted);
  EXPECT_THAT(error_of("def f b x y = if b then x else y\ndef g '~b (x: b) = f true x x"), lifted);
  EXPECT_THAT(error_of("def f '~a (g: i64 -> a) = map g (iota 3)"), lifted);
  const std::string m = "module m : { type~ t val x : t } = { type~ t = []i32 def x : t = [1] }\n";
  EXPECT_THAT(error_of(m + "def f = copy m.x"), lifted);
  EXPECT_THAT(error_of(m + "def f = [m.x]"), lifted);
  EXPECT_EQ(error_of(m + "def f b = if b then m.x else m.x\ndef g = (m.x, m.x)"), "accepted");
  EXPECT_EQ(error_of("def f '~a (x: a) = x\ndef g '~b (x: b) = f x\ndef h '~a (x: a) (y: a) b = "
                     "if b then x else y"),
            "accepted");
}

TEST(Lifted, FunctionsAreNotCompared) {
  const auto no = HasSubstr("does not support equality");
  EXPECT_THAT(error_of("def f x = (x == x, x 2)"), no);
  EXPECT_THAT(error_of("def f (g: i32 -> i32) = g == g"), no);
  EXPECT_THAT(error_of("def f (g: (i32, i32 -> i32)) = g != g"), no);
  EXPECT_THAT(error_of("def f 't (x: t) (y: t) = x == y"), no);
  EXPECT_THAT(error_of("module m (p: { type t val x : t }) = { def f = p.x == p.x }"), no);
}

TEST(Lifted, TypeParametersStayInside) {
  const auto no = AllOf(HasSubstr("The type parameter \"b\""), HasSubstr("#scope-violation"));
  EXPECT_THAT(error_of("def f x = let g 'b (y: b) = if true then y else x in g"), no);
  EXPECT_THAT(error_of("def f x = let g 'b (y: b) : b = x in g"), no);
  EXPECT_THAT(error_of("def f x = let g 'b (y: b) = if true then (y, y) else x in g"), no);
  EXPECT_EQ(error_of("def f x = let g 'b (y: b) = let z = y in if true then z else y\n"
                     "in (g x, g true)"),
            "accepted");
  EXPECT_EQ(error_of("def f 'b (x: b) = let g y = if true then y else x in g x"), "accepted");
}

TEST(Lifted, LiteralsFitTheirTypes) {
  EXPECT_THAT(error_of("def f : f16 = 70000"),
              HasSubstr("Literal 70000 out of bounds for inferred type f16."));
  EXPECT_THAT(error_of("def f : f16 = -70000"), HasSubstr("out of bounds"));
  EXPECT_EQ(error_of("def f : f16 = 65504"), "accepted");
}

TEST(Lifted, SizesNameWhatIsNoSize) {
  EXPECT_THAT(error_of("def f (k: f64, xs: [k]i32) = xs"), HasSubstr("but \"k\" does not"));
}

}  // namespace
}  // namespace kenaz::check

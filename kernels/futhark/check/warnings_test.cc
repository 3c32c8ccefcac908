#include "kernels/futhark/check/warnings.h"

#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "LINE:COLUMN first line of the warning", one for each.
std::vector<std::string> warnings_of(const std::string& text, bool accepted = true) {
  const SourceReader read = [&](const std::string&) -> Result<std::string> { return text; };
  std::vector<Diagnostic> found;
  const auto program = check_program("main.fut", read, &found);
  EXPECT_EQ(program.has_value(), accepted) << (program ? "" : program.error().text());
  std::vector<std::string> out;
  for (const Diagnostic& d : found) {
    EXPECT_EQ(d.severity, Severity::kWarning);
    out.push_back(std::to_string(d.range.begin.line) + ":" + std::to_string(d.range.begin.column) +
                  " " + d.message.substr(0, d.message.find('\n')));
  }
  return out;
}

constexpr const char* kBinding = "Size expression with binding is replaced by unknown size.";

TEST(Warnings, UniquenessOfWhatIsNoArray) {
  EXPECT_THAT(warnings_of("type t = i32\ndef f (x: *t) : t = x"),
              ElementsAre("2:11 Declaring \"i32\" as unique has no effect."));
  EXPECT_THAT(warnings_of("def f : i32 -> *(i32, bool) = \\x -> (x, true)"),
              ElementsAre("1:16 Declaring \"(i32, bool)\" as unique has no effect."));
  EXPECT_THAT(warnings_of("def f 't (x: *t) (_: *(i32, []i32)) = x"), IsEmpty());
}

TEST(Warnings, TypesOfDefinitionsThatAreNotSaid) {
  EXPECT_THAT(warnings_of("def f x y = x + y"),
              ElementsAre("1:13 Defaulting ambiguous type to i32."));
  EXPECT_THAT(warnings_of("def f = (1, 2.5)"),
              ElementsAre("1:10 Defaulting ambiguous type to i32.",
                          "1:13 Defaulting ambiguous type to f64."));
  EXPECT_THAT(warnings_of("def f x = x"), IsEmpty());
  EXPECT_THAT(warnings_of("def f (n: i64) = let k = 2 in replicate n (k == 3)"), IsEmpty());
  EXPECT_THAT(warnings_of("def main = reduce (i32.+) 0"), IsEmpty());
}

TEST(Warnings, EqualityOfArrays) {
  const std::string text =
      "Comparing arrays with \"==\" is deprecated: it will be an error in a "
      "later version of the language.";
  EXPECT_THAT(warnings_of("def f (xs: []i32) (ys: []i32) = xs == ys"), ElementsAre("1:33 " + text));
  EXPECT_THAT(warnings_of("def f (xs: []i32) (ys: []i32) = xs != ys"), IsEmpty());
  EXPECT_THAT(warnings_of("def f (x: ([]i32, i32)) y = x == y"), IsEmpty());
}

TEST(Warnings, SizesThatBindNames) {
  const std::string at = " " + std::string(kBinding);
  EXPECT_THAT(warnings_of("def f (n: i64) = iota (let m = n + 1 in m * m)"),
              ElementsAre("1:23" + at));
  EXPECT_THAT(warnings_of("def f (n: i64) = iota (if n > 2 then n else 2)"), IsEmpty());
  EXPECT_THAT(warnings_of("def f (n: i64) = i64.abs (let m = n + 1 in m)"), IsEmpty());
  EXPECT_THAT(warnings_of("def f [n] (xs: [n]i32) = xs[:(let m = n in m / 2)]"),
              ElementsAre("1:30" + at));
  EXPECT_THAT(warnings_of("def f [n] (xs: [n]i32) = xs[0:n:(let m = 1 in m)]"), IsEmpty());
  EXPECT_THAT(warnings_of("def f (n: i64) = 0..<(let m = n in m)"), ElementsAre("1:22" + at));
  EXPECT_THAT(warnings_of("def f (n: i64) = 2..4..<(let m = n in m)"), IsEmpty());
}

TEST(Warnings, TypesThatInclusionShadows) {
  const std::string has = "module type has_t = { type t }\n";
  EXPECT_THAT(warnings_of(has + "module type two = { include has_t\n include has_t }"),
              ElementsAre("3:2 Inclusion shadows type \"t\"."));
  EXPECT_THAT(warnings_of(has + "module type one = { type u include has_t }"), IsEmpty());
  EXPECT_THAT(warnings_of(has + "module type one = { type t = i32 }\n"
                                "module type two = { type t include one }"),
              IsEmpty());
}

TEST(Warnings, RangesWhoseFirstElementsAreTheSame) {
  EXPECT_THAT(warnings_of("def f (x: i64) = x..x..<9"),
              ElementsAre("1:18 The first two elements of this range are the same, so it is empty "
                          "or fails."));
  EXPECT_THAT(warnings_of("def f (x: i64) (y: i64) = x..y..<9"), IsEmpty());
}

TEST(Warnings, IntrinsicsByTheirNames) {
  EXPECT_THAT(warnings_of("def f (x: f32) = intrinsics.sqrt32 x", false),
              IsEmpty());  // unknown
  EXPECT_THAT(warnings_of("def f (xs: []i32) = intrinsics.map (\\x -> x) xs"),
              ElementsAre(HasSubstr("1:21 Using intrinsic functions directly")));
  EXPECT_THAT(warnings_of("def f = intrinsics.sort_keys []"),
              ElementsAre("1:5 Defaulting ambiguous type to u32.",
                          HasSubstr("1:9 Using intrinsic functions directly")));
}

TEST(Warnings, AreOfTheTextAndNotOfItsUses) {
  // t is no array where the module is used, but the text does not say so.
  EXPECT_THAT(
      warnings_of("module m (x: { type t val id : *t -> t }) = { def f (y: *x.t) = x.id y }\n"
                  "module a = m { type t = i32 def id (x: i32) = x }\n"
                  "module b = m { type t = i32 def id (x: i32) = x }\n"),
      IsEmpty());
  EXPECT_THAT(warnings_of("module m (x: {}) = { def f (y: *i32) = y }\n"
                          "module a = m {}\nmodule b = m {}\n"),
              ElementsAre("1:32 Declaring \"i32\" as unique has no effect."));
}

TEST(Warnings, AreThereBesidesErrors) {
  EXPECT_THAT(warnings_of("def plus a b = a + b\ndef f (x: f32) = plus x x", false),
              ElementsAre("1:16 Defaulting ambiguous type to i32."));
}

TEST(Warnings, AreInTheOrderOfTheText) {
  EXPECT_THAT(warnings_of("def f x = let y : *i32 = 2 in x + 1 + y\ndef g x y = (x, y + 2.5)\n"
                          "def h = 1"),
              ElementsAre("1:19 Declaring \"i32\" as unique has no effect.",
                          "2:17 Defaulting ambiguous type to f64.",
                          "3:9 Defaulting ambiguous type to i32."));
}

}  // namespace
}  // namespace kenaz::check

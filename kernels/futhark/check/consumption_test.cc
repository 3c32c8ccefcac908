// What is said of programs that use what they consumed. Programs that are accepted, or rejected for
// one reason each, are in tests/programs.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::HasSubstr;

TEST(Consumption, AUseSaysWhereItWasConsumedAndThroughWhichAlias) {
  const std::string direct =
      error_of("def f (xs: *[]i32) =\n  let ys = xs with [0] = 1\n  in xs\n");
  EXPECT_THAT(direct, HasSubstr("Error at main.fut:3:6-8:\n"
                                "Using \"xs\", but this was consumed at 2:12-14.\n"));
  EXPECT_THAT(direct, HasSubstr("\nIt was consumed here:\n\n  2 |   let ys = xs with [0] = 1\n"));
  EXPECT_THAT(direct, HasSubstr("error-index.html#use-after-consume"));
  EXPECT_THAT(
      error_of("def f (xs: *[]i32) =\n  let ys = xs[1:]\n  let zs = ys with [0] = 1\n"
               "  in xs"),
      HasSubstr("Using \"xs\", but this was consumed at 3:12-14, through its alias \"ys\"."));
  EXPECT_THAT(error_of("def f (xs: *[]i32) =\n  let ys = xs[1:]\n  let zs = xs with [0] = 1\n"
                       "  in ys"),
              HasSubstr("Using \"ys\", which may be an alias of \"xs\", but this was consumed"));
  EXPECT_THAT(error_of("def g (n: i64) : ([]i64, []i64) = let a = iota n in (a, a)\n"
                       "def f (n: i64) =\n  let (a, b) = g n\n  let a[0] = 1\n  in b"),
              HasSubstr("Using \"b\", which may be an alias of the result of applying \"g\", but "
                        "this was consumed at 4:7-8, through its alias \"a\"."));
}

TEST(Consumption, WhatOneBranchConsumesIsConsumed) {
  EXPECT_THAT(error_of("def f (c: bool) (xs: *[]i32) =\n"
                       "  let ys = if c then xs with [0] = 1 else [1]\n  in xs"),
              HasSubstr("Using \"xs\", but this was consumed at 2:22-24."));
  EXPECT_EQ(
      type_in("def f (c: bool) (xs: *[]i32) = if c then xs with [0] = 1 else xs with [0] = 2", "f"),
      "bool -> *[d]i32 -> *[d]i32");
}

TEST(Consumption, WhatIsNotOnesOwnIsNotConsumable) {
  EXPECT_THAT(error_of("def f (xs: []i32) = xs with [0] = 1"),
              HasSubstr("Consuming variable \"xs\", which is not consumable.\nIt belongs to the "
                        "caller: the type of the parameter has no \"*\"."));
  EXPECT_THAT(
      error_of("def f (xs: *[]i32) = map (\\i -> (xs with [i] = 0)[0]) (iota 3)"),
      HasSubstr("Consuming variable \"xs\", which is not consumable.\nIt comes from outside "
                "of this function or loop"));
  EXPECT_THAT(error_of("def c = [1, 2]\ndef f (x: i32) = c with [0] = x"),
              HasSubstr("\"c\" is a constant that other functions use, too."));
}

TEST(Consumption, LoopsOwnWhatTheyConsume) {
  EXPECT_THAT(error_of("def f (n: i64) =\n  let xs = iota n\n"
                       "  in loop ys = xs for i < n do\n    ys with [i] = xs[0]"),
              HasSubstr("Using \"xs\", but this was consumed at 3:16-18 as an initial value of the "
                        "loop."));
  EXPECT_THAT(error_of("def f (n: i64) =\n  let xs = iota n\n  let zs = iota n\n"
                       "  in loop ys = xs for i < n do\n    let ys[0] = 1 in zs"),
              HasSubstr("Return value for consuming loop parameter \"ys\" aliases \"zs\"."));
  EXPECT_THAT(error_of("def f (n: i64) =\n  loop xs: []i64 = iota n for i < n do xs with [i] = 1"),
              HasSubstr("\"xs\", which is not consumable"));
}

TEST(Consumption, ResultsAreAsUniqueAsTheirTypesSay) {
  EXPECT_THAT(
      error_of("def f (xs: []i32) : *[]i32 = xs"),
      HasSubstr("Unique-typed return value is aliased to \"xs\", which is not consumable."));
  EXPECT_THAT(error_of("def f (xs: *[]i32) : (*[]i32, *[]i32) = (xs, xs)"),
              HasSubstr("A unique-typed component of the return value is aliased to some other "
                        "component."));
  EXPECT_THAT(error_of("def c = [1, 2]\ndef f (b: bool) = if b then c else []"),
              HasSubstr("Function result aliases the free variable \"c\"."));
}

TEST(Consumption, UniquenessOfResultsIsInferred) {
  EXPECT_EQ(type_in("def f (xs: []i32) = let ys = copy xs in ys with [0] = 1", "f"),
            "[d]i32 -> *[d]i32");
  EXPECT_EQ(type_in("def f (xs: *[]i32) = (xs, 1)", "f"), "*[d]i32 -> (*[d]i32, i32)");
  EXPECT_EQ(type_in("def f (xs: *[]i32) = (xs, xs)", "f"), "*[d]i32 -> ([d]i32, [d]i32)");
  EXPECT_EQ(type_in("def f (xs: []i32) = xs[1:]", "f"), "[d]i32 -> [d - 1]i32");
  EXPECT_EQ(type_in("def f (n: i64) = loop xs = iota n for i < n do xs with [i] = 0", "f"),
            "(n: i64) -> *[n]i64");
}

TEST(Consumption, FunctionsMayNotPutItOff) {
  const std::string g = "def g (xs: *[]i32) (i: i64) = xs with [i] = 0\n";
  EXPECT_THAT(error_of(g + "def f (xs: *[]i32) = let h = g xs in h 1"),
              HasSubstr("Let-bound expression of higher-order type\n  i64 -> *[d]i32\ncontains "
                        "consumption"));
  EXPECT_THAT(error_of(g + "def f (xs: *[]i32) = map (g xs) (iota 3)"),
              HasSubstr("Argument of functional type"));
  EXPECT_THAT(error_of("def g (xs: *[]i32) = xs[0]\ndef f (xs: [][]i32) = map g xs"),
              HasSubstr("incompatible regarding consuming their arguments"));
}

TEST(Consumption, OneErrorForEachDefinition) {
  const std::string text = error_of(
      "def f (xs: []i32) = (xs with [0] = 1)[0]\n"
      "def g (xs: *[]i32) = let ys = xs with [0] = f xs in (xs, xs)\n"
      "def h (xs: []i32) = f xs + (xs with [0] = 2)[0]\n");
  EXPECT_THAT(text, HasSubstr("Error at main.fut:1:22-24:"));
  EXPECT_THAT(text, HasSubstr("Error at main.fut:2:54-56:"));
  EXPECT_THAT(text, HasSubstr("Error at main.fut:3:29-31:"));
}

TEST(Consumption, TheBodyOfAParametricModuleIsReportedOnce) {
  const std::string text = error_of(
      "module m (x: {}) = { def f (xs: []i32) = xs with [0] = 1 }\n"
      "module a = m {}\nmodule b = m {}\n");
  EXPECT_EQ(text.find("Error at"), text.rfind("Error at")) << text;
}

TEST(Consumption, InitialValuesOfALoopThatConsumesShareNothing) {
  const auto aliased = HasSubstr("self-aliased");
  const std::string f = "def f (xs: *[]i32) (ys: []i32) (p: *([]i32, []i32)) = ";
  EXPECT_THAT(error_of(f + "loop (a, b) = (xs, xs) for i < 3i32 do (a with [0] = 1, b)"), aliased);
  EXPECT_THAT(error_of(f + "loop (a, b) = (xs, xs[:2]) for i < 3i32 do (a with [0] = 1, b)"),
              aliased);
  EXPECT_THAT(error_of(f + "loop (a, b, c) = (xs, ys, ys) for i < 3i32 do (a with [0] = 1, b, c)"),
              aliased);
  EXPECT_EQ(error_of(f + "loop (a, b) = p for i < 3i32 do (a with [0] = 1, b)"), "accepted");
  EXPECT_EQ(error_of("def g (p: *([]i32, []i32)) = p.0 with [0] = 1\n" + f + "g p"), "accepted");
  EXPECT_EQ(error_of(f + "loop (a, b) = (xs, ys) for i < 3i32 do (a with [0] = 1, b)"), "accepted");
  EXPECT_EQ(error_of(f + "loop (a, b) = (xs, xs[0]) for i < 3i32 do (a with [0] = 1, b)"),
            "accepted");
  EXPECT_EQ(error_of(f + "loop (a, b) = (xs, xs) for i < 3i32 do (a, b)"), "accepted");
}

}  // namespace
}  // namespace kenaz::check

#include "kernels/ir/validate.h"

#include <gmock/gmock.h>

#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"

namespace kenaz::ir {
namespace {

using testing::HasSubstr;

/// What validate() says of a function with this body: empty if all is well.
std::string problem(const std::string& stms, const std::string& stage = "seg") {
  const auto p =
      parse("stage " + stage +
            "\ntune \"t\" threshold\n"
            "fun main(n: i64, m: i64, b: bool, xs: [n]i32, hs: *[10]i32, gs: *[n][10]i32,\n"
            "         vs: *[10][m]i32, fs: [n]f32) -> () {\n" +
            stms + "\nreturn }\nentry main = main\n");
  if (!p) return "parse: " + p.error().text();
  const auto valid = validate(*p);
  return valid ? "" : valid.error().text();
}

const std::string kAdd =
    "\\(a: i32, b: i32) -> (i32) { let c: i32 = add.i32(a, b) return c } {0i32}";
const std::string kRow = "\\(a: [m]i32, b: [m]i32) -> ([m]i32) { return a } {zero}";

TEST(ValidateSeg, WhatIsRightPasses) {
  for (
      const std::string& text : std::vector<std::string>{
          "let y: i64 = seg map device () { return n }",
          "let ys: [n][m]i64 = seg map device (i: i64 < n, j: i64 < m) { return j }",
          "let s: i32 = seg reduce device (i: i64 < n) { return 1i32 } by " + kAdd,
          "let s: [m]i32 = seg reduce device (i: i64 < n) { let r: [m]i32 = replicate [m] 1i32 "
          "return r } by " +
              kAdd + " lifted [m]",
          "let zero: [m]i32 = replicate [m] 0i32 let s: [m]i32 = seg reduce device (i: i64 < n) { "
          "return zero } by " +
              kRow,
          "let (s: [n]i32, o: [n]i64) = seg scan device (i: i64 < n) { return 1i32, i } by " + kAdd,
          "let h: [10]i32 = seg map device (i: i64 < n) { return i, 1i32 } into hs /1",
          "let h: [10]i32 = seg map device (i: i64 < n) { return i, 1i32 } into hs /1 by " + kAdd,
          "let g: [n][10]i32 = seg map device (i: i64 < n, j: i64 < m) { return j, 1i32 } "
          "into gs /1 at 1",
          "let v: [10][m]i32 = seg map device (i: i64 < n) { let r: [m]i32 = replicate [m] 1i32 "
          "return i, r } into vs /1 by " +
              kAdd + " lifted [m]",
          "let h: [10]i32 = seg map device () { let u: [10]i32 = update hs[0i64] = 1i32 return u }",
          "let t: i64 = tune \"t\"",
          "let r: i64 = versions \"a\" when b { return n } \"b\" when true { return m }"}) {
    EXPECT_EQ(problem(text), "") << text;
  }
}

TEST(ValidateMem, PlacesAreOfWhatIsMadeAtHostLevel) {
  const std::string ints = "let zs: [n]i32 in hs at n = copy xs";
  EXPECT_EQ(problem(ints, "mem"), "");
  EXPECT_THAT(problem(ints), HasSubstr("a place of what may have none"));
  for (const std::string& text : std::vector<std::string>{
           "let z: i32 in hs at n = add.i32(1i32, 2i32)",
           "let z: [n]i32 in hs at n = scratch [n]i32",
           "let h: [10]i32 in xs at 0i64 = seg map device (i: i64 < n) { return i, 1i32 } "
           "into hs /1",
           "let ys: [n][m]i32 = seg map device (i: i64 < n) { "
           "let r: [m]i32 in hs at 0i64 = array i32 [1i32, 2i32] return r }"}) {
    EXPECT_THAT(problem(text, "mem"), HasSubstr("a place of what may have none")) << text;
  }
  EXPECT_THAT(problem("let zs: [n]i32 in fs at n = copy xs", "mem"),
              HasSubstr("has other elements than its memory"));
  EXPECT_THAT(problem("let zs: [n]i32 in hs at b = copy xs", "mem"),
              HasSubstr("begins at what is no i64"));
  EXPECT_THAT(problem("let zs: [n]i32 in zs at n = copy xs", "mem"), HasSubstr("not in scope"));
}

TEST(ValidateSeg, RearrangementsArePermutations) {
  EXPECT_EQ(problem("let t: [10][n]i32 = rearrange (1, 0) gs"), "");
  for (const char* perm : {"2, 0", "1000000, 0", "0, 0", "-1, 0", "0", "0, 1, 2"}) {
    EXPECT_NE(problem("let t: [10][n]i32 = rearrange (" + std::string(perm) + ") gs")
                  .find("not a permutation of the dims"),
              std::string::npos)
        << perm;
  }
}

TEST(ValidateSeg, ShapesOfOperations) {
  const std::pair<std::string, const char*> wrong[] = {
      {"let ys: [n]i32 = seg map device (i: i64 < n) { return 1i32 } by " + kAdd,
       "1 monoids in a map"},
      {"let s: [n]i32 = seg reduce device (i: i64 < n) { return 1i32 }", "0 monoids in a reduce"},
      {"let s: i32 = seg reduce device () { return 1i32 } by " + kAdd,
       "a space without dims has plain results only"},
      {"let h: [10]i32 = seg map device () { return n, 1i32 } into hs /1",
       "a space without dims has plain results only"},
      {"let ys: [n]i32 = seg map device (i: i32 < n) { return 1i32 }", "an index is no i64"},
      {"let ys: [n]i32 = seg map device (i: i64 < b) { return 1i32 }", "operand b_"},
      {"let s: [n]i32 = seg reduce device (i: i64 < n) { return 1i32 } by " + kAdd, "pattern 0"},
      {"let s: i32 = seg scan device (i: i64 < n) { return 1i32 } by " + kAdd, "pattern 0"},
      {"let ys: i32 = seg map device (i: i64 < n) { return 1i32 }", "lacks dims of the space"},
      {"let ys: [n]i32 = seg map device (i: i64 < n) { return 1i64 }", "body result 0"},
      {"let (a: [n]i32, c: [n]i32) = seg map device (i: i64 < n) { return 1i32 }",
       "2 variables for 1 results"},
      {"let s: i32 = seg reduce device (i: i64 < n) { return } by " + kAdd,
       "fewer results than operands and writes"},
      {"let s: i32 = seg reduce device (i: i64 < n) { return 1f32 } by " + kAdd, "body result 0"},
      {"let s: i32 = seg reduce device (i: i64 < n) { return 1i32 } by "
       "\\(a: i32, b: i32) -> (i32) { return a } {0i64}",
       "neutral element"},
      {"let s: i32 = seg reduce device (i: i64 < n) { return 1i32 } by "
       "\\(a: i32) -> (i32) { return a } {0i32}",
       "operator's param"},
      {"let s: [m]i32 = seg reduce device (i: i64 < n) { return 1i32 } by " + kAdd + " lifted [m]",
       "body result 0"},
  };
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(problem(text), HasSubstr(message)) << text;
  }
}

TEST(ValidateSeg, Writes) {
  const std::pair<std::string, const char*> wrong[] = {
      {"let h: [10]i32 = seg map device (i: i64 < n) { return 1i32 } into hs /0",
       "a write without an index"},
      {"let h: [10]i32 = seg map device (i: i64 < n) { return i, i, 1i32 } into hs /2",
       "index of rank 2"},
      {"let g: [n][10]i32 = seg map device (i: i64 < n) { return 1i32 } into gs /0 at 2",
       "a write in more segments than dims"},
      {"let h: [10]i32 = seg map device (i: i64 < n) { return 1i32, 1i32 } into hs /1",
       "body result 0"},
      {"let h: [10]i32 = seg map device (i: i64 < n) { return i, 1i64 } into hs /1",
       "body result 1"},
      {"let v: [10][m]i32 = seg map device (i: i64 < n) { let r: [m]i32 = replicate [m] 1i32 "
       "return i, r } into vs /1 by " +
           kAdd,
       "combined value"},
      {"let h: [10]i32 = seg map device (i: i64 < n) { let x: i32 = index hs[i] return i, x } "
       "into hs /1",
       "is read where it is written"},
      {"let v: [10]i32 = reshape [10i64] hs "
       "let h: [10]i32 = seg map device (i: i64 < n) { let x: i32 = index v[i] return i, x } "
       "into hs /1",
       "is read where it is written"},
      {"let h: [10]i32 = seg map device (i: i64 < n) { return i, 1i32 } into hs /1 "
       "let x: i32 = index hs[0i64]",
       "is used after it was consumed"},
      {"let h: [n]i32 = seg map device (i: i64 < n) { return i, 1i32 } into xs /1",
       "is consumed but only lent"},
      {"let (h: [10]i32, k: [10]i32) = seg map device (i: i64 < n) { return i, 1i32, 2i32 } "
       "into hs, hs /1",
       "is consumed twice"},
      {"let h: [n]i32 = seg map device (i: i64 < n) { let u: [10]i32 = update hs[i] = 1i32 "
       "return 1i32 }",
       "a lambda consumes"},
      {"let h: [10]i32 = seg map device () { let u: [10]i32 = update hs[0i64] = 1i32 return u } "
       "let x: i32 = index hs[0i64]",
       "is used after it was consumed"},
      {"let h: [10]i32 = seg map device () { return hs } "
       "let u: [10]i32 = update hs[0i64] = 1i32 let x: i32 = index h[0i64]",
       "is used after it was consumed"},
      {"let h: [10]i32 = versions \"a\" when b { return hs } \"c\" when true { let c: [10]i32 = "
       "copy hs return c } let u: [10]i32 = update hs[0i64] = 1i32 let x: i32 = index h[0i64]",
       "is used after it was consumed"},
  };
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(problem(text), HasSubstr(message)) << text;
  }
}

// What a loop's first turn was given is read by the others where the param has been changed.
TEST(ValidateSeg, LoopsLeaveNothingOfWhatTheyConsume) {
  const auto loop = [](const std::string& array) {
    return problem(
        "let l: [10]i32 = loop (a: [10]i32 = hs) for i: i64 < n do { let x: i32 = index " + array +
        "[0i64] let u: [10]i32 = update a[i] = x return u }");
  };
  EXPECT_EQ(loop("a"), "");
  EXPECT_THAT(loop("hs"), HasSubstr("is used after it was consumed"));
}

TEST(ValidateSeg, VersionsAndTunes) {
  const std::pair<std::string, const char*> wrong[] = {
      {"let r: i64 = versions", "no versions"},
      {"let r: i64 = versions \"a\" when b { return n }", "the last version has a test"},
      {"let r: i64 = versions \"a\" when b { return n } \"a\" when true { return n }",
       "two versions named a"},
      {"let r: i64 = versions \"a\" when n { return n } \"b\" when true { return n }",
       "operand n_"},
      {"let r: i64 = versions \"a\" when true { return 1i32 }", "body result 0"},
      {"let r: i32 = tune \"t\"", "pattern 0"},
  };
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(problem(text), HasSubstr(message)) << text;
  }
  Program p;
  p.tunes = {{"a", TuneClass::kThreshold, 1, {}}, {"a", TuneClass::kTile, 1, {}}};
  EXPECT_THAT(validate(p).error().text(), HasSubstr("two parameters named a"));
  p.tunes[1].name = "b";
  EXPECT_TRUE(validate(p));
  p.tunes[0].path = {{TuneId{1}, true}};
  EXPECT_THAT(validate(p).error().text(), HasSubstr("names no earlier parameter"));
}

TEST(ValidateStage, EveryStageHasItsExpressions) {
  const std::string soac = "let y: [n]i32 = soac (n; xs) map \\(x: i32) -> (i32) { return x }";
  const std::string single = "let z: i64 = seg map device () { return n }";
  const std::string flat = "let z: [n]i64 = seg map device (k: i64 < n) { return k }";
  const auto in_seg = [](const std::string& stms, const std::string& level = "device") {
    return "let w: [n]i64 = seg map " + level + " (q: i64 < n) { " + stms + " return q }";
  };
  const auto in_lambda = [](const std::string& stms) {
    return "let y: [n]i32 = soac (n; xs) map \\(x: i32) -> (i32) { " + stms + " return x }";
  };
  EXPECT_EQ(problem(soac, "soacs"), "");
  EXPECT_THAT(problem(soac), HasSubstr("ESoac at host level"));
  EXPECT_EQ(problem(in_seg(soac)), "");
  EXPECT_EQ(problem(single, "soacs"), "");
  EXPECT_THAT(problem(flat, "soacs"), HasSubstr("an ESeg with dims"));
  EXPECT_EQ(problem("let t: i64 = tune \"t\"", "soacs"), "");
  EXPECT_THAT(problem(in_lambda("let t: i64 = tune \"t\""), "soacs"),
              HasSubstr("ETune in a lambda"));
  EXPECT_THAT(problem("let r: i64 = versions \"a\" when true { return n }", "soacs"),
              HasSubstr("EVersions at host level"));
  EXPECT_THAT(problem(in_seg("let t: i64 = tune \"t\"")), HasSubstr("ETune in the body"));
  EXPECT_THAT(problem(in_seg(in_lambda(flat))), HasSubstr("ESeg in a lambda"));
  EXPECT_EQ(problem("let l: i64 = loop (a: i64 = n) for i: i64 < n do { " + flat + " return a }"),
            "");
}

TEST(ValidateStage, LevelsNestAsThreadsDo) {
  const auto nest = [](const std::string& outer, const std::string& inner) {
    return problem("let w: [n]i64 = seg map " + outer +
                   " (q: i64 < n) { let r: i64 = if b then { "
                   "let z: [m]i64 = seg map " +
                   inner +
                   " (k: i64 < m) { return k } return q } "
                   "else { return n } return r }");
  };
  EXPECT_EQ(nest("group", "ingroup"), "");
  EXPECT_THAT(nest("device", "ingroup"), HasSubstr("an ESeg of level ingroup in the body"));
  EXPECT_THAT(nest("group", "device"), HasSubstr("an ESeg of level device in the body"));
  EXPECT_THAT(nest("group", "group"), HasSubstr("an ESeg of level group in the body"));
  EXPECT_THAT(problem("let z: [n]i64 = seg map ingroup (k: i64 < n) { return k }"),
              HasSubstr("an ESeg of level ingroup at host level"));
}

}  // namespace
}  // namespace kenaz::ir

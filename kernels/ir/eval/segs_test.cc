// Segmented operations: their values, and that claims which are wrong are found.
#include <gmock/gmock.h>

#include <set>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/validate.h"

namespace kenaz::ir::eval {
namespace {

using testing::HasSubstr;

/// The results of `main`, a function without params, as text; or its error.
std::string run(const std::string& ret, const std::string& stms, const SegOptions& options = {}) {
  const std::string text = "stage seg\ntune \"t\" threshold 5\nfun main() -> (" + ret + ") {\n" +
                           stms + "\n}\nentry main = main\n";
  auto program = parse(text);
  if (!program) return "parse: " + program.error().text();
  if (const auto valid = validate(*program); !valid) return valid.error().text();
  auto evaluator = Evaluator::make(std::move(*program));
  evaluator->set_seg_options(options);
  const auto values = evaluator->call(FunId{0}, {});
  if (!values) return values.error().text();
  std::string out;
  for (const Value& v : *values) {
    if (!out.empty()) out += "; ";
    if (v.type.is_scalar()) {
      out += std::to_string(PrimValue{v.type.prim, v.bits}.as_i64());
      continue;
    }
    int64_t n = 1;
    for (const int64_t d : v.array.shape) n *= d;
    for (int64_t i = 0; i < n; i++) {
      PrimValue element{v.type.prim, 0};
      const auto size = static_cast<size_t>(prim_size(v.type.prim));
      std::memcpy(&element.bits,
                  v.array.buffer->data.get() + static_cast<size_t>(v.array.offset + i) * size,
                  size);
      out += (i == 0 ? "" : " ") + std::to_string(element.as_i64());
    }
  }
  return out;
}

/// What comes out for some seeds.
std::set<std::string> outcomes(const std::string& ret, const std::string& stms) {
  std::set<std::string> all;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    SegOptions options;
    options.seed = seed;
    all.insert(run(ret, stms, options));
  }
  return all;
}

void expect_always(const std::string& value, const std::string& ret, const std::string& stms) {
  EXPECT_EQ(outcomes(ret, stms), std::set<std::string>{value}) << stms;
}

const std::string kAdd =
    "\\(a: i64, b: i64) -> (i64) { let c: i64 = add.i64(a, b) return c } {0i64}";
// Composition of x -> k x + d: associative, not commutative.
const std::string kCompose =
    "\\(k: i64, d: i64, l: i64, e: i64) -> (i64, i64) { let m: i64 = mul.i64(k, l) "
    "let t: i64 = mul.i64(l, d) let f: i64 = add.i64(t, e) return m, f } {1i64, 0i64}";

TEST(Segs, MapsOverSpaces) {
  expect_always("0 1 2 10 11 12", "[2][3]i64",
                "let r: [2][3]i64 = seg map device (i: i64 < 2i64, j: i64 < 3i64) { "
                "let t: i64 = mul.i64(i, 10i64) let x: i64 = add.i64(t, j) return x } return r");
  expect_always("", "[0][3]i64",
                "let r: [0][3]i64 = seg map device (i: i64 < 0i64, j: i64 < 3i64) { return j } "
                "return r");
  expect_always("7; 7 7", "i64, [2]i64",
                "let (x: i64, a: [2]i64) = seg map device () { let a: [2]i64 = replicate [2i64] "
                "7i64 return 7i64, a } return x, a");
}

TEST(Segs, GroupsHoldSpaces) {
  expect_always("0 1 3 6", "[4]i64",
                "let r: [4]i64 = seg map group (i: i64 < 4i64) { let n: i64 = add.i64(i, 1i64) "
                "let s: i64 = seg reduce ingroup (j: i64 < n) { return j } by " +
                    kAdd + " return s } return r");
}

TEST(Segs, ReductionsKeepTheOrder) {
  expect_always(
      "45", "i64",
      "let s: i64 = seg reduce device (i: i64 < 10i64) { return i } by " + kAdd + " return s");
  expect_always(
      "0", "i64",
      "let s: i64 = seg reduce device (i: i64 < 0i64) { return i } by " + kAdd + " return s");
  expect_always(
      "0 0", "[2]i64",
      "let s: [2]i64 = seg reduce device (j: i64 < 2i64, i: i64 < 0i64) { return i } by " + kAdd +
          " return s");
  // 2 (2 (2 (2 x + 0) + 1) + 2) + 3, for each row; and what the points say beside it
  expect_always("16 16; 11 11; 0 0 0 0 1 1 1 1", "[2]i64, [2]i64, [2][4]i64",
                "let (k: [2]i64, d: [2]i64, o: [2][4]i64) = seg reduce device (r: i64 < 2i64, "
                "i: i64 < 4i64) { return 2i64, i, r } by " +
                    kCompose + " return k, d, o");
}

TEST(Segs, OperatorsOnArraysAreAppliedElementByElement) {
  expect_always("6 12", "[2]i64",
                "let s: [2]i64 = seg reduce device (i: i64 < 4i64) { let d: i64 = mul.i64(i, 2i64) "
                "let row: [2]i64 = array i64 [i, d] return row } by " +
                    kAdd + " lifted [2i64] return s");
  expect_always("0 0", "[2]i64",
                "let s: [2]i64 = seg reduce device (i: i64 < 0i64) { let row: [2]i64 = "
                "array i64 [i, i] return row } by " +
                    kAdd + " lifted [2i64] return s");
}

TEST(Segs, OperatorsMayTakeArrays) {
  expect_always("3 0", "[2]i64",
                "let z: [2]i64 = replicate [2i64] 0i64 "
                "let s: [2]i64 = seg reduce device (i: i64 < 3i64) { "
                "let row: [2]i64 = array i64 [1i64, 0i64] return row } by "
                "\\(a: [2]i64, b: [2]i64) -> ([2]i64) { let x: i64 = index a[0i64] "
                "let y: i64 = index b[0i64] let c: i64 = add.i64(x, y) "
                "let r: [2]i64 = array i64 [c, 0i64] return r } {z} return s");
}

TEST(Segs, Scans) {
  expect_always(
      "0 1 3 6 0 1 3 6; 3 2 1 0 3 2 1 0", "[2][4]i64, [2][4]i64",
      "let (s: [2][4]i64, o: [2][4]i64) = seg scan device (r: i64 < 2i64, i: i64 < 4i64) {"
      " let x: i64 = sub.i64(3i64, i) return i, x } by " +
          kAdd + " return s, o");
  expect_always(
      "2 4 8 16; 0 1 4 11", "[4]i64, [4]i64",
      "let (k: [4]i64, d: [4]i64) = seg scan device (i: i64 < 4i64) { return 2i64, i } by " +
          kCompose + " return k, d");
}

TEST(Segs, Writes) {
  const std::string zeros = "let h: [4]i64 = replicate [4i64] 0i64 ";
  expect_always("0 10 20 30", "[4]i64",
                zeros +
                    "let r: [4]i64 = seg map device (i: i64 < 100i64) { "
                    "let x: i64 = mul.i64(i, 10i64) return i, x } into h /1 return r");
  expect_always("25 25 25 25", "[4]i64",
                zeros +
                    "let r: [4]i64 = seg map device (i: i64 < 100i64) { "
                    "let x: i64 = mod.i64(i, 4i64) return x, 1i64 } into h /1 by " +
                    kAdd + " return r");
  expect_always("0 1 0 3 0 0", "[2][3]i64",
                "let g: [2][3]i64 = replicate [2i64, 3i64] 0i64 "
                "let r: [2][3]i64 = seg map device (i: i64 < 2i64, k: i64 < 1i64) { "
                "let j: i64 = sub.i64(1i64, i) let x: i64 = mul.i64(i, 2i64) "
                "let y: i64 = add.i64(x, 1i64) return j, y } into g /1 at 1 return r");
  expect_always("0 0 1 1", "[2][2]i64",
                "let g: [2][2]i64 = replicate [2i64, 2i64] 7i64 "
                "let r: [2][2]i64 = seg map device (i: i64 < 2i64) { "
                "let row: [2]i64 = replicate [2i64] i return row } into g /0 at 1 return r");
}

TEST(Segs, ThreadsUpdateInPlace) {
  expect_always("5 0", "[2]i64",
                "let h: [2]i64 = replicate [2i64] 0i64 "
                "let r: [2]i64 = seg map device () { let u: [2]i64 = update h[0i64] = 5i64 "
                "return u } return r");
}

TEST(Segs, ReadsOutsideAreFound) {
  EXPECT_THAT(run("[3]i64",
                  "let a: [2]i64 = replicate [2i64] 0i64 let r: [3]i64 = seg map device "
                  "(i: i64 < 3i64) { let x: i64 = index a[i] return x } return r"),
              HasSubstr("unchecked index 2 is out of bounds 2"));
}

TEST(WrongClaims, NotCommutative) {
  const auto reduce = [](const std::string& mark) {
    return outcomes("i64, i64",
                    "let (k: i64, d: i64) = seg reduce device (i: i64 < 6i64) { "
                    "return 2i64, i } by " +
                        mark + kCompose + " return k, d");
  };
  EXPECT_EQ(reduce("").size(), 1U);
  EXPECT_GT(reduce("commutative ").size(), 1U);
}

TEST(WrongClaims, NotAssociative) {
  const std::string sub =
      "\\(a: i64, b: i64) -> (i64) { let c: i64 = sub.i64(a, b) return c } {0i64}";
  EXPECT_GT(outcomes("i64", "let s: i64 = seg reduce device (i: i64 < 6i64) { return i } by " +
                                sub + " return s")
                .size(),
            1U);
  EXPECT_GT(outcomes("[6]i64", "let s: [6]i64 = seg scan device (i: i64 < 6i64) { return i } by " +
                                   sub + " return s")
                .size(),
            1U);
}

TEST(WrongClaims, NoNeutralElement) {
  EXPECT_GT(outcomes("i64",
                     "let s: i64 = seg reduce device (i: i64 < 20i64) { return i } by "
                     "\\(a: i64, b: i64) -> (i64) { let c: i64 = add.i64(a, b) return c } {1i64} "
                     "return s")
                .size(),
            1U);
}

TEST(WrongClaims, PointsThatDependOnTheirOrder) {
  EXPECT_GT(outcomes("[1]i64",
                     "let h: [1]i64 = replicate [1i64] 0i64 "
                     "let r: [1]i64 = seg map device (i: i64 < 6i64) { return 0i64, i } into h /1 "
                     "return r")
                .size(),
            1U);
}

const std::string kVersions =
    "let t: i64 = tune \"t\" let small: bool = lt.i64(t, 3i64) "
    "let h: [2]i64 = replicate [2i64] 1i64 "
    "let r: [2]i64 = versions \"first\" when small { "
    "let u: [2]i64 = update h[0i64] = 2i64 return u } "
    "\"second\" when true { let v: [2]i64 = update h[0i64] = %i64 return v } return r";

std::string versions(const std::string& second) {
  std::string text = kVersions;
  return text.replace(text.find('%'), 1, second);
}

TEST(Versions, TheFirstWhoseTestHolds) {
  SegOptions options;
  EXPECT_EQ(run("[2]i64", versions("3"), options), "3 1");
  options.tunes = {{"t", 2}};
  EXPECT_EQ(run("[2]i64", versions("3"), options), "2 1");
}

TEST(Versions, AllOfThemAreCompared) {
  SegOptions options;
  options.all_versions = true;
  EXPECT_EQ(run("[2]i64", versions("2"), options), "2 1");
  EXPECT_THAT(run("[2]i64", versions("3"), options),
              HasSubstr("versions first and second differ in result 0"));
  EXPECT_THAT(run("i64",
                  "let r: i64 = versions \"a\" when false { return 1i64 } \"b\" when true { "
                  "let c: bool = assert (false, \"no\") return 1i64 } return r",
                  options),
              HasSubstr("version b fails: Error: no"));
}

}  // namespace
}  // namespace kenaz::ir::eval

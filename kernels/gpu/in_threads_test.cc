#include "kernels/gpu/in_threads.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::gpu {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The results of main, which has no params and returns arrays of i64.
std::vector<std::vector<int64_t>> values(const ir::Program& p) {
  auto evaluator = ir::eval::Evaluator::make(p);
  const auto results = evaluator->call(ir::FunId{0}, {});
  EXPECT_TRUE(results) << results.error().text();
  std::vector<std::vector<int64_t>> out;
  if (!results) return out;
  for (const auto& v : *results) {
    out.emplace_back();
    int64_t n = 1;
    for (const int64_t d : v.array.shape) n *= d;
    out.back().resize(static_cast<size_t>(n));
    if (n > 0) {
      std::memcpy(out.back().data(), v.array.buffer->data.get() + v.array.offset * 8,
                  static_cast<size_t>(n) * 8);
    }
  }
  return out;
}

/// What becomes of main if nothing is supported; expects the values to stay as they are.
std::string after(const std::string& ret, const std::string& stms) {
  auto p =
      ir::parse("stage seg\nfun main() -> (" + ret + ") {\n" + stms + "\n}\nentry main = main\n");
  if (!p) return p.error().text();
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  const auto before = values(*p);
  in_threads(*p, [](const ir::ESeg&) { return false; });
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  EXPECT_EQ(values(*p), before) << ir::print(*p);
  return ir::print(*p, {.renumber = true});
}

const std::string kSum =
    "\\(a: i64, b: i64) -> (i64) { let c: i64 = add.i64(a, b) return c } {0i64}";

TEST(InThreads, ReductionsLoopOverTheLastDim) {
  const std::string text = after(
      "[2][3]i64, [2][3][4]i64",
      "let (s: [2][3]i64, o: [2][3][4]i64) = seg reduce device (i: i64 < 2i64, j: i64 < 3i64, "
      "k: i64 < 4i64) { let t: i64 = mul.i64(i, j) let x: i64 = add.i64(t, k) return x, k } "
      "by " +
          kSum + " return s, o");
  EXPECT_THAT(text, HasSubstr("i64 < 2i64, j_")) << text;
  EXPECT_THAT(text, HasSubstr("= soac (4i64; ")) << text;
  EXPECT_THAT(text, Not(HasSubstr("seg reduce"))) << text;
}

TEST(InThreads, OneThreadWhereThereIsOneDim) {
  const std::string text = after("[4]i64, [4]i64",
                                 "let (s: [4]i64, o: [4]i64) = seg scan device (i: i64 < 4i64) { "
                                 "let x: i64 = mul.i64(i, i) return x, i } by " +
                                     kSum + " return s, o");
  EXPECT_THAT(text, HasSubstr("seg map device () {")) << text;
}

TEST(InThreads, LiftedOperatorsWorkOnArrays) {
  const std::string text =
      after("[2][3][2]i64",
            "let s: [2][3][2]i64 = seg reduce device (i: i64 < 2i64, j: i64 < 5i64) { "
            "let r: [3][2]i64 = replicate [3i64, 2i64] j let x: i64 = add.i64(i, j) "
            "let q: [3][2]i64 = update r[1i64, 0i64] = x return q } by " +
                kSum + " lifted [3i64, 2i64] return s");
  EXPECT_THAT(text, Not(HasSubstr("lifted"))) << text;
  EXPECT_THAT(text, HasSubstr("reduce \\(operand_")) << text;
}

TEST(InThreads, LiftedOperatorsWhereThereIsNothing) {
  after("[2]i64",
        "let s: [2]i64 = seg reduce device (i: i64 < 0i64) { let r: [2]i64 = replicate [2i64] i "
        "return r } by " +
            kSum + " lifted [2i64] return s");
}

TEST(InThreads, GroupsAreThreads) {
  const std::string text = after(
      "[3]i64, [3][2][2]i64",
      "let (s: [3]i64, m: [3][2][2]i64) = seg map group (i: i64 < 3i64) { "
      "let odd: bool = lt.i64(1i64, i) "
      "let t: i64 = if odd then { let r: i64 = seg reduce ingroup (j: i64 < i) { return j } by " +
          kSum +
          " return r } else { return 7i64 } "
          "let m: [2][2]i64 = seg map ingroup (k: i64 < 2i64, l: i64 < 2i64) { "
          "let x: i64 = add.i64(k, t) return x } return t, m } return s, m");
  EXPECT_THAT(text, HasSubstr("seg map device (i_")) << text;
  EXPECT_THAT(text, Not(HasSubstr("group"))) << text;
}

}  // namespace
}  // namespace kenaz::gpu

#include "kernels/gpu/prepare.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::gpu {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string after(void (*pass)(ir::Program&), const std::string& text) {
  auto p = ir::parse(text);
  if (!p) return p.error().text();
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  pass(*p);
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  return ir::print(*p, {.renumber = true});
}

const std::string kAdd =
    "\\(a: i32, b: i32) -> (i32) { let c: i32 = add.i32(a, b) return c } {0i32}";

TEST(RunByOneThread, HistogramsAlsoInLoops) {
  const std::string text = after(
      run_by_one_thread,
      "fun main(n: i64, hs: *[5]i32, is: [n]i64) -> ([5]i32) {\n"
      "let r: [5]i32 = loop (h: [5]i32 = hs) for k: i64 < n do {\n"
      "let g: [5]i32 = hist (n; is) map \\(i: i64) -> (i64, i32) { return i, 1i32 } into h /1 " +
          kAdd + " return g }\nreturn r }\nentry main = main\n");
  EXPECT_THAT(text, ContainsRegex("seg map device \\(\\) \\{\n +let g_[0-9]+: \\[5\\]i32 = hist "))
      << text;
}

TEST(RunByOneThread, OperatorsOnArraysButNotOnScalars) {
  const std::string head = "fun main(n: i64, xs: [n]i32, z: [2]i32) -> () {\n";
  const std::string tail = "\nreturn }\nentry main = main\n";
  const std::string arrays = after(
      run_by_one_thread, head +
                             "let s: [2]i32 = soac (n; xs) map \\(x: i32) -> ([2]i32) { return z }"
                             " reduce \\(a: [2]i32, b: [2]i32) -> ([2]i32) { return a } {z}" +
                             tail);
  EXPECT_THAT(arrays, HasSubstr("seg map device () {")) << arrays;
  const std::string scalars =
      after(run_by_one_thread,
            head + "let s: i32 = soac (n; xs) map \\(x: i32) -> (i32) { return x } reduce " + kAdd +
                tail);
  EXPECT_THAT(scalars, Not(HasSubstr("seg"))) << scalars;
}

/// The results of main, which has no params.
std::vector<std::vector<int64_t>> values(const std::string& text) {
  auto evaluator = ir::eval::Evaluator::make(*ir::parse(text));
  const auto results = evaluator->call(ir::FunId{0}, {});
  EXPECT_TRUE(results) << results.error().text();
  std::vector<std::vector<int64_t>> out;
  for (const auto& v : *results) {
    out.emplace_back();
    int64_t n = 1;
    for (const int64_t d : v.array.shape) n *= d;
    for (int64_t i = 0; i < n; i++) {
      int64_t x = 0;
      std::memcpy(&x, v.array.buffer->data.get() + (v.array.offset + i) * 8, 8);
      out.back().push_back(x);
    }
  }
  return out;
}

TEST(JoinDims, PointsFindTheirIndices) {
  const std::string before =
      "stage seg\nfun main() -> ([2][5][3][2]i64, [5]i64) {\n"
      "let hs: [5]i64 = replicate [5i64] 0i64\n"
      "let (h: [5]i64, r: [2][5][3][2]i64) = "
      "seg map device (i: i64 < 2i64, j: i64 < 5i64, k: i64 < 3i64) { "
      "let a: i64 = mul.i64(i, 100i64) let b: i64 = mul.i64(j, 10i64) let c: i64 = add.i64(a, b) "
      "let d: i64 = add.i64(c, k) let e: [2]i64 = array i64 [d, i] return k, 7i64, e } "
      "into hs /1\nreturn r, h }\nentry main = main\n";
  const std::string text = after(join_dims, before);
  EXPECT_THAT(text, ContainsRegex("seg map device \\(t_[0-9]+: i64 < 30i64\\) \\{")) << text;
  EXPECT_EQ(values(text), values(before));
}

TEST(JoinDims, OneDimAndReductionsStay) {
  const std::string text =
      "stage seg\nfun main(n_0: i64) -> ([n_0]i64, [n_0]i32) {\n"
      "  let r_1: [n_0]i64 = seg map device (i_2: i64 < n_0) {\n    return i_2\n  }\n"
      "  let s_3: [n_0]i32 = seg reduce device (i_4: i64 < n_0, j_5: i64 < n_0) {\n"
      "    return 1i32\n  } by \\(a_6: i32, b_7: i32) -> (i32) {\n"
      "    let c_8: i32 = add.i32(a_6, b_7)\n    return c_8\n  } {0i32}\n"
      "  return r_1, s_3\n}\nentry main = main\n";
  EXPECT_EQ(after(join_dims, text), text);
}

TEST(FixChoices, VersionsAreIfsAndParametersTheirFallback) {
  const std::string text =
      after(fix_choices,
            "stage seg\ntune \"a\" threshold 7\ntune \"b\" threshold\n"
            "fun main(n: i64, xs: [n]i32) -> (m: i64, [m]i32) {\n"
            "let t: i64 = tune \"a\" let u: i64 = tune \"b\"\n"
            "let p: bool = lt.i64(n, t) let q: bool = lt.i64(n, u)\n"
            "let (k: i64, r: [k]i32) = versions \"x\" when p { return n, xs } "
            "\"y\" when q { let e: [1]i32 = replicate [1i64] 5i32 return 1i64, e } "
            "\"z\" when true { let e: [2]i32 = replicate [2i64] 5i32 return 2i64, e }\n"
            "let o: i64 = versions \"only\" when true { let w: i64 = add.i64(n, 1i64) return w }\n"
            "return k, r }\nentry main = main\n");
  EXPECT_THAT(text, HasSubstr("i64 = 7i64")) << text;
  EXPECT_THAT(text, HasSubstr("i64 = 1i64")) << text;
  // The inner pattern's size is its own.
  EXPECT_THAT(text,
              ContainsRegex("else \\{\n +let \\(k_9: i64, r_10: \\[k_9\\]i32\\) = if q_6 then"))
      << text;
  EXPECT_THAT(text, HasSubstr("= if true then {")) << text;
  EXPECT_THAT(text, Not(HasSubstr("versions"))) << text;
}

}  // namespace
}  // namespace kenaz::gpu

#include "kernels/gpu/prepare.h"

#include <gmock/gmock.h>

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

#include "kernels/host_code/prepare.h"

#include <gmock/gmock.h>

#include <functional>

#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::host_code {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string after(const std::function<void(ir::Program&)>& pass, const std::string& text) {
  auto p = ir::parse(text);
  if (!p) return p.error().text();
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  pass(*p);
  if (const auto ok = ir::validate(*p); !ok) return ok.error().text();
  return ir::print(*p, {.renumber = true});
}

const std::string kAdd =
    "\\(a: i32, b: i32) -> (i32) { let c: i32 = add.i32(a, b) return c } {0i32}";

TEST(RunByOneThread, OperatorsOnWholeArraysAlsoInLoops) {
  const std::string text =
      after(run_by_one_thread,
            "fun main(n: i64, xs: [n]i32, z: [2]i32) -> ([2]i32) {\n"
            "let r: [2]i32 = loop (h: [2]i32 = z) for k: i64 < n do {\n"
            "let s: [2]i32 = soac (n; xs) map \\(x: i32) -> ([2]i32) { return h }"
            " reduce \\(a: [2]i32, b: [2]i32) -> ([2]i32) { return a } {z}\n"
            "return s }\nreturn r }\nentry main = main\n");
  EXPECT_THAT(text, HasSubstr("seg map device () {")) << text;
}

TEST(RunByOneThread, NotOperatorsOnScalars) {
  const std::string text =
      after(run_by_one_thread,
            "fun main(n: i64, xs: [n]i32) -> () {\n"
            "let s: i32 = soac (n; xs) map \\(x: i32) -> (i32) { return x } reduce " +
                kAdd + "\nreturn }\nentry main = main\n");
  EXPECT_THAT(text, Not(HasSubstr("seg"))) << text;
}

TEST(RunByOneThread, NotOperatorsThatWorkElementByElement) {
  const std::string text =
      after(run_by_one_thread,
            "fun main(n: i64, xss: [n][2]i32) -> () {\n"
            "let z: [2]i32 = replicate [2i64] 0i32\n"
            "let s: [2]i32 = soac (n; xss) map \\(x: [2]i32) -> ([2]i32) { return x }"
            " reduce \\(a: [2]i32, b: [2]i32) -> ([2]i32) {"
            " let m: [2]i32 = soac (2i64; a, b) map \\(x: i32, y: i32) -> (i32) {"
            " let s: i32 = add.i32(x, y) return s }\n return m } {z}\n"
            "return }\nentry main = main\n");
  EXPECT_THAT(text, Not(HasSubstr("seg"))) << text;
}

std::string counted_loop(const std::string& bound) {
  return "let y: i32 = loop (h: i32 = x) for k: i64 < " + bound +
         " do { let g: i32 = add.i32(h, h) return g }\n";
}

TEST(MakeLongElementsApart, OfReductionsAndScans) {
  const std::string text = after(make_long_elements_apart,
                                 "fun main(n: i64, xs: [n]i32) -> (i32, [n]i32, [n]i32) {\n"
                                 "let (c: [n]i32, s: i32, r: [n]i32) = soac (n; xs) map \\(x: i32) "
                                 "-> (i32, i32, i32) {\n" +
                                     counted_loop("n") + "return x, y, x } scan " + kAdd +
                                     " reduce " + kAdd + "\nreturn s, c, r }\nentry main = main\n");
  EXPECT_THAT(text, ContainsRegex("made[^\n]* = soac \\(n_0; xs_1\\) map[^}]*loop")) << text;
  EXPECT_THAT(text, ContainsRegex("= soac \\(n_0; made_[0-9]+, made_[0-9]+, made_[0-9]+\\) map "
                                  "[^{]*\\{\n[^\n]*return"))
      << text;
}

TEST(MakeLongElementsApart, NotThoseOfShortLoops) {
  const std::string text = after(make_long_elements_apart,
                                 "fun main(n: i64, xs: [n]i32) -> (i32) {\n"
                                 "let s: i32 = soac (n; xs) map \\(x: i32) -> (i32) {\n" +
                                     counted_loop("4i64") + "return y } reduce " + kAdd +
                                     "\nreturn s }\nentry main = main\n");
  EXPECT_THAT(text, Not(HasSubstr("made"))) << text;
}

TEST(MakeLongElementsApart, NotThoseOfMaps) {
  const std::string text =
      after(make_long_elements_apart,
            "fun main(n: i64, xs: [n]i32) -> ([n]i32) {\n"
            "let s: [n]i32 = soac (n; xs) map \\(x: i32) -> (i32) {\n" +
                counted_loop("n") + "return y }\nreturn s }\nentry main = main\n");
  EXPECT_THAT(text, Not(HasSubstr("made"))) << text;
}

TEST(ChoicesAsIfs, VersionsAreIfs) {
  const std::string text =
      after([](ir::Program& p) { choices_as_ifs(p); },
            "stage seg\ntune \"a\" threshold 7\ntune \"b\" threshold\n"
            "fun main(n: i64, xs: [n]i32) -> (m: i64, [m]i32) {\n"
            "let t: i64 = tune \"a\" let u: i64 = tune \"b\"\n"
            "let p: bool = lt.i64(n, t) let q: bool = lt.i64(n, u)\n"
            "let (k: i64, r: [k]i32) = versions \"x\" when p { return n, xs } "
            "\"y\" when q { let e: [1]i32 = replicate [1i64] 5i32 return 1i64, e } "
            "\"z\" when true { let e: [2]i32 = replicate [2i64] 5i32 return 2i64, e }\n"
            "let o: i64 = versions \"only\" when true { let w: i64 = add.i64(n, 1i64) return w }\n"
            "return k, r }\nentry main = main\n");
  // The inner pattern's size is its own.
  EXPECT_THAT(text,
              ContainsRegex("else \\{\n +let \\(k_9: i64, r_10: \\[k_9\\]i32\\) = if q_6 then"))
      << text;
  EXPECT_THAT(text, HasSubstr("= if true then {")) << text;
  EXPECT_THAT(text, Not(HasSubstr("versions"))) << text;
}

}  // namespace
}  // namespace kenaz::host_code

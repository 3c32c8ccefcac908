#include "kernels/ad/loops_apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::ad {
namespace {

using testing::HasSubstr;

/// The lines of a derivative's function, with loops set apart. `ys` is what is differentiated by.
std::string apart(const std::string& fun) {
  auto p = ir::parse(
      "fun main(n: i64, m: i64, xs: [n][m]f64, zs: [m]f64) -> (f64, [m]f64) {\n"
      "  let (r: f64, d: [m]f64) = vjp (zs; 1.0f64) \\(ys: [m]f64) -> (f64) {\n" +
      fun + "  }\n  return r, d\n}\nentry main = main\n");
  EXPECT_TRUE(p.has_value()) << p.error().text();
  if (!p) return "";
  const std::string before = ir::print(*p);
  for (ir::Stm& s : p->functions[0].body.stms) {
    if (auto* e = std::get_if<ir::EVjp>(&s.exp)) set_loops_apart(*p, e->fun);
  }
  const auto valid = ir::validate(*p);
  EXPECT_TRUE(valid.has_value()) << valid.error().text() << ir::print(*p);
  const std::string after = ir::print(*p);
  return after == before ? "" : after;
}

/// `s`, a sum or the like of x[j] * ys[j].
std::string loop(const std::string& bound, const std::string& step, const std::string& s = "s",
                 const std::string& x = "x") {
  return "      let " + s + ": f64 = loop (a: f64 = 0.0f64) for j: i64 < " + bound +
         " do {\n        let v: f64 = index " + x +
         "[j]\n        let y: f64 = index ys[j]\n"
         "        let w: f64 = mul.f64(v, y)\n        let b: f64 = " +
         step + "\n        return b\n      }\n";
}

/// The sum over the rows x of `xs` of what the code calls q.
std::string sum_of(const std::string& code) {
  return "    let rs: [n]f64 = soac (n; xs) map \\(x: [m]f64) -> (f64) {\n" + code +
         "      return q\n    }\n"
         "    let sum: f64 = soac (n; rs) map \\(r: f64) -> (f64) {\n      return r\n"
         "    } reduce \\(c: f64, d: f64) -> (f64) {\n      let e: f64 = add.f64(c, d)\n"
         "      return e\n    } {0.0f64}\n    return sum\n";
}

const std::string kSum = "add.f64(a, w)", kSquare = "      let q: f64 = mul.f64(s, s)\n";

TEST(LoopsApart, ALoopLeavesItsMap) {
  EXPECT_THAT(
      apart(sum_of(loop("m", kSum) + kSquare)),
      HasSubstr(
          "    let kept_22: [n_0]f64 = soac (n_0; xs_2) map \\(x_23: [m_1]f64) -> (f64) {\n"
          "      let s_24: f64 = loop (a_25: f64 = 0.0000000000000000f64) for j_26: i64 < m_1 "
          "do {\n"
          "        let v_27: f64 = index x_23[j_26]\n"
          "        let y_28: f64 = index ys_6[j_26]\n"
          "        let w_29: f64 = mul.f64(v_27, y_28)\n"
          "        let b_30: f64 = add.f64(a_25, w_29)\n"
          "        return b_30\n"
          "      }\n"
          "      return s_24\n"
          "    }\n"
          "    let rs_7: [n_0]f64 = soac (n_0; xs_2, kept_22) map \\(x_8: [m_1]f64, s_9: f64) "
          "-> (f64) {\n"
          "      let q_16: f64 = mul.f64(s_9, s_9)\n"
          "      return q_16\n"
          "    }\n"));
}

TEST(LoopsApart, ALoopTakesAlongWhatItNeeds) {
  const std::string text =
      apart(sum_of("      let gs: [m]f64 = soac (m; x) map \\(f: f64) -> (f64) {\n"
                   "        let g: f64 = mul.f64(f, f)\n        return g\n      }\n" +
                   loop("m", kSum, "s", "gs") +
                   "      let t: f64 = index gs[0i64]\n      let q: f64 = mul.f64(s, t)\n"));
  EXPECT_THAT(text, HasSubstr("kept_"));
  EXPECT_NE(text.find("let gs_"), text.rfind("let gs_"));  // both maps make it
}

TEST(LoopsApart, ALoopLeavesMapsInMaps) {
  const std::string text =
      apart(sum_of("      let is: [m]i64 = iota.i64(m, 0i64, 1i64)\n"
                   "      let ts: [m]f64 = soac (m; is) map \\(t: i64) -> (f64) {\n" +
                   loop("t", kSum) +
                   "      let u: f64 = mul.f64(s, s)\n      return u\n    }\n"
                   "      let q: f64 = index ts[0i64]\n"));
  EXPECT_THAT(text, HasSubstr(": [n_0][m_1]f64 = soac (n_0; xs_2)"));
}

TEST(LoopsApart, MapsOfLoopsAloneStay) { EXPECT_EQ(apart(sum_of(loop("m", kSum, "q"))), ""); }

TEST(LoopsApart, ShortLoopsStay) {
  EXPECT_EQ(apart(sum_of(loop("16i64", kSum) + kSquare)), "");
  EXPECT_NE(apart(sum_of(loop("17i64", kSum) + kSquare)), "");
}

TEST(LoopsApart, LoopsStayThatRunAgainOnTheWayBack) {
  EXPECT_EQ(apart(sum_of(loop("m", "mul.f64(a, w)") + kSquare)), "");
}

TEST(LoopsApart, LoopsStayThatNeedOtherLoops) {
  const std::string first =
      "      let f: f64 = loop (g: f64 = 1.0f64) for h: i64 < m do {\n"
      "        let y0: f64 = index ys[h]\n"
      "        let k: f64 = mul.f64(g, y0)\n        return k\n      }\n";
  EXPECT_EQ(apart(sum_of(first + loop("m", "add.f64(a, f)") + kSquare)), "");
}

}  // namespace
}  // namespace kenaz::ad

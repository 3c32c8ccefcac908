#include "kernels/ir/parse.h"

#include <gtest/gtest.h>

#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"

namespace kenaz::ir {
namespace {

// In the printer's own layout, so that parsing and printing must give the text back.
constexpr const char* kEverything = R"(provenance 0 "a.fut" 1 2 1 5
provenance 1 "b.fut" 3 4 5 6 @0
constants {
  let c_0: [3]i32 = array i32 [1i32, -2i32, 3i32]
  return c_0
}
fun helper(a_1: [m_2]f32, b_3: *[m_2]f32) -> (k_4: i64, [k_4]f32) {
  return m_2, a_1
}
fun main(n_5: i64, xs_6: [n_5][4]i32, y_7: f64) -> ([n_5]i32) {
  let cert_8: bool = assert (true, "bad \"size\" ", n_5, ".") @1
  #[sequential] let r_9: i32 = index xs_6[0i64, 1i64] cert {cert_8}
  let s_10: [2][4]i32 = index xs_6[0i64 : 2i64 : -1i64, 0i64 : 4i64 : 1i64]
  let z_11: f32 = convert.f64.f32(y_7)
  let q_12: f32 = add.f32(z_11, 1.50000000f32)
  let nan_13: bool = eq.f32(q_12, bits(f32, 0x7fc00000))
  let ii_14: [n_5]i64 = iota.i64(n_5, 0i64, 1i64)
  let re_15: [n_5][2]bool = replicate [n_5, 2i64] true
  let sc_16: [n_5]u8 = scratch [n_5]u8
  let co_17: [6]i32 = concat (6i64; c_0, c_0)
  let ra_18: [4][n_5]i32 = rearrange (1, 0) xs_6
  let rs_19: [2][3]i32 = reshape [2i64, 3i64] co_17
  let cp_20: [6]i32 = copy co_17
  let up_21: [6]i32 = update cp_20[3i64] = r_9
  let (a_22: i64, b_23: [a_22]f32) = if nan_13 then {
    let e_24: [2]f32 = array f32 [q_12, z_11]
    return 2i64, e_24
  } else {
    let e_25: [0]f32 = array f32 []
    return 0i64, e_25
  }
  let (k_26: i64, l_27: [k_26]f32) = call helper(b_23, b_23)
  let lo_28: i32 = loop (acc_29: i32 = r_9) for i_30: i32 < 10i32 do {
    let t_31: i32 = add.i32(acc_29, i_30)
    return t_31
  }
  let (wc_32: bool, wv_33: i32) = loop (go_34: bool = true, v_35: i32 = lo_28) while go_34 do {
    return false, v_35
  }
  let (m_36: [n_5]i64, t_37: i64) = soac (n_5; ii_14) map \(i_38: i64) -> (i64, i64) {
    return i_38, i_38
  } scan \(x_39: i64, y_40: i64) -> (i64) {
    let z_41: i64 = add.i64(x_39, y_40)
    return z_41
  } {0i64} reduce commutative \(x_42: i64, y_43: i64) -> (i64) {
    let z_44: i64 = mul.i64(x_42, y_43)
    return z_44
  } {1i64}
  let sx_45: [6]i32 = scatter (n_5; ii_14) map \(i_46: i64) -> (i64, i32) {
    return i_46, 7i32
  } into up_21/1
  let hx_47: [6]i32 = hist (n_5; ii_14) map \(i_48: i64) -> (i64, i32) {
    return i_48, 1i32
  } into sx_45 /1 \(x_49: i32, y_50: i32) -> (i32) {
    let z_51: i32 = add.i32(x_49, y_50)
    return z_51
  } {0i32}
  let (pc_52: [2]i64, pv_53: [n_5]i64) = pack (n_5; ii_14) map \(i_54: i64) -> (i32, i64) {
    return 1i32, i_54
  } classes 2 rest
  let (sk_55: [n_5]u64, sv_56: [n_5]i64) = sort (n_5; ii_14) map \(i_57: i64) -> (u64, i64) {
    let k_58: u64 = bitcast.i64.u64(i_57)
    return k_58, i_57
  }
  let out_59: [n_5]i32 = replicate [n_5] wv_33
  return out_59
}
entry main = main
)";

TEST(Parse, PrintsWhatItRead) {
  const auto p = parse(kEverything);
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(print(*p, {.renumber = true, .provenance = true}), kEverything);
}

constexpr const char* kSegs = R"(stage seg
tune "main.outer" threshold 32768
tune "main.inner" threshold path {"main.outer" = false}
tune "warp" device_fact -1
fun main(n_0: i64, m_1: i64, xs_2: [n_0][m_1]i32, h_3: *[10]i32, g_4: *[n_0][10]f32) -> ([n_0]i32) {
  let one_5: i64 = seg map device () {
    return m_1
  }
  let (sum_6: [n_0]i32, i_7: [n_0][m_1]i64) = seg reduce device (i_8: i64 < n_0, j_9: i64 < m_1) {
    let x_10: i32 = index xs_2[i_8, j_9]
    return x_10, i_8
  } by commutative \(a_11: i32, b_12: i32) -> (i32) {
    let c_13: i32 = add.i32(a_11, b_12)
    return c_13
  } {0i32}
  let s_14: [n_0][m_1]i32 = seg scan device (i_15: i64 < n_0) {
    let row_16: [m_1]i32 = index xs_2[i_15, 0i64 : m_1 : 1i64]
    return row_16
  } by \(a_17: i32, b_18: i32) -> (i32) {
    let c_19: i32 = max.i32(a_17, b_18)
    return c_19
  } {-2147483648i32} lifted [m_1]
  let (h_20: [10]i32, g_21: [n_0][10]f32) = seg map group (i_22: i64 < n_0) {
    let inner_23: [m_1]i64 = seg map ingroup (j_24: i64 < m_1) {
      return j_24
    }
    return i_22, 1i32, one_5, 2.50000000f32
  } into h_3 /1 by \(a_25: i32, b_26: i32) -> (i32) {
    let c_27: i32 = add.i32(a_25, b_26)
    return c_27
  } {0i32} into g_4 /1 at 1
  let t_28: i64 = tune "main.inner"
  let big_29: bool = lt.i64(t_28, n_0)
  let v_30: [n_0]i32 = versions "outer" when big_29 {
    return sum_6
  } "inner" when true {
    let r_31: [n_0]i32 = replicate [n_0] 3i32
    return r_31
  }
  return v_30
}
entry main = main
)";

TEST(Parse, PrintsSegmentedOperations) {
  const auto p = parse(kSegs);
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(print(*p, {.renumber = true}), kSegs);
  const auto valid = validate(*p);
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(Parse, PrintsPlaces) {
  constexpr const char* kPlaces = R"(stage mem
fun main(n_0: i64, t_1: i64) -> ([t_1]i64) {
  let memory_2: [t_1]i64 = scratch [t_1]i64
  let (a_3: [n_0]i64 in memory_2 at 0i64, b_4: [n_0]i64 in memory_2 at n_0) = seg map device (i_5: i64 < n_0) {
    return i_5, n_0
  }
  let c_6: [t_1]i64 in memory_2 at 0i64 = concat (t_1; a_3, b_4)
  return c_6
}
entry main = main
)";
  const auto p = parse(kPlaces);
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(print(*p, {.renumber = true}), kPlaces);
  const auto valid = validate(*p);
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(Parse, ErrorsNameTheLine) {
  const auto p = parse("fun f() -> (i32) {\n  return x\n}\n");
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message, "line 2: expected a variable in scope, found 'x'");
  for (const char* bad :
       {"", "fun", "fun f(", "let", "\"", "fun f() -> () { let x: i32 = add.i32(",
        "fun f() -> () { let x: i32 = call g() return }", "stage x", "tune x", "tune \"x\" y",
        "tune \"x\" tile path {\"x\" = true}", "fun f() -> () { let x: i64 = tune \"x\" return }",
        "fun f() -> () { let () = seg maps device () { return } return }",
        "fun f() -> () { let () = seg map here () { return } return }",
        "fun f() -> () { return } fun f() -> (i32) { return 1i32 }"}) {
    EXPECT_EQ(bool(parse(bad)), *bad == 0) << bad;
  }
}

TEST(Backtrace, InnermostFirst) {
  Program p;
  auto file = std::make_shared<const SourceFile>(SourceFile{"a.fut", ""});
  ProvId at;
  for (int i = 1; i <= 11; ++i) at = p.new_prov({file, {i, 1}, {i, 9}}, at);
  const std::string text = p.backtrace(at);
  EXPECT_EQ(text.substr(0, text.find('\n', 30)), "-> #0  a.fut:11:1-9\n   #1  a.fut:10:1-9");
  EXPECT_NE(text.find("\n   #10 a.fut:1:1-9"), std::string::npos);
}

TEST(Backtrace, NoPlaceTwiceInARow) {
  Program p;
  auto file = std::make_shared<const SourceFile>(SourceFile{"a.fut", ""});
  ProvId at = p.new_prov({file, {1, 1}, {1, 2}}, {});
  at = p.new_prov({file, {2, 1}, {2, 5}}, at);
  at = p.new_prov({file, {2, 1}, {2, 5}}, at);  // a check that was inlined with its function
  EXPECT_EQ(p.backtrace(at), "-> #0  a.fut:2:1-5\n   #1  a.fut:1:1-2");
}

}  // namespace
}  // namespace kenaz::ir

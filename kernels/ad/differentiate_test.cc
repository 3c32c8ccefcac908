// The pass on small programs. What whole programs compute is tested by tests/ad and
// tests/programs/ad; here, the table of derivatives, against central differences of the evaluator's
// own operations, and what the pass leaves alone or refuses.
#include "kernels/ad/differentiate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {
namespace {

using ir::eval::Value;
using testing::HasSubstr;

ir::Program parsed(const std::string& text) {
  auto p = ir::parse(text);
  EXPECT_TRUE(p.has_value()) << p.error().text() << text;
  const auto valid = ir::validate(*p);
  EXPECT_TRUE(valid.has_value()) << valid.error().text() << text;
  return *p;
}

/// The operation's value, then per operand its derivative by forward and by reverse mode.
struct Made {
  double value;
  std::vector<double> forward, reverse;
};

/// main of both derivatives of an operation on f64. The second operand of ldexp is an i32.
std::string text_of(ScalarOp op) {
  const int n = scalar_op_arity(op);
  std::string args, tangents, params, inside, given;
  for (int k = 0; k < n; ++k) {
    const char* comma = k == 0 ? "" : ", ";
    args += fmt::format("{}x_{}", comma, k);
    tangents += fmt::format("{}t_{}", comma, 10 + k);
    params += fmt::format("{}p_{{0}}{}: f64", comma, k);
    inside += fmt::format("{}p_{{0}}{}", comma, k);
    given += fmt::format("{0}x_{1}: f64, t_{2}: f64", comma, k, 10 + k);
  }
  const auto lambda = [&](int id) {
    return fmt::format("\\({}) -> (f64) {{\n let r_{}9: f64 = {}.f64({})\n return r_{}9\n }}",
                       fmt::format(fmt::runtime(params), id), id, scalar_op_name(op),
                       fmt::format(fmt::runtime(inside), id), id);
  };
  std::string adjoints, results;
  for (int k = 0; k < n; ++k) {
    adjoints += fmt::format(", a_{}: f64", 60 + k);
    results += fmt::format(", a_{}", 60 + k);
  }
  std::string ret = "f64, f64";
  for (int k = 0; k < n; ++k) ret += ", f64";
  return fmt::format(
      "fun main({}) -> ({}) {{\n let (v_50: f64, d_51: f64) = jvp ({}; {}) {}\n"
      " let (v_52: f64{}) = vjp ({}; 1.0f64) {}\n return v_50, d_51{}\n}}\nentry main = main\n",
      given, ret, args, tangents, lambda(3), adjoints, args, lambda(4), results);
}

std::optional<Made> derivatives(ir::eval::Evaluator& evaluator, const std::vector<double>& x) {
  Made made{};
  for (size_t k = 0; k < x.size(); ++k) {
    std::vector<Value> args;
    for (size_t i = 0; i < x.size(); ++i) {
      const ir::Type f64{PrimType::kF64, {}};
      args.push_back({f64, PrimValue::f64(x[i]).bits, {}});
      args.push_back({f64, PrimValue::f64(i == k ? 1 : 0).bits, {}});
    }
    const auto out = evaluator.call(evaluator.program().entries[0].fun, std::move(args));
    EXPECT_TRUE(out.has_value()) << out.error().text();
    if (!out) return std::nullopt;
    const auto number = [&](size_t at) {
      return PrimValue{PrimType::kF64, (*out)[at].bits}.as_double();
    };
    made.value = number(0);
    made.forward.push_back(number(1));
    made.reverse.push_back(number(2 + k));
  }
  return made;
}

double value_of(ScalarOp op, const std::vector<double>& x) {
  std::vector<PrimValue> args;
  for (const double v : x) args.push_back(PrimValue::f64(v));
  return eval_scalar(op, PrimType::kF64, PrimType::kF64, args).as_double();
}

/// The slope along one operand; null at kinks, at steps, and where the function is not defined.
std::optional<double> slope(ScalarOp op, std::vector<double> x, size_t k) {
  constexpr double kStep = 1e-6;
  const double middle = value_of(op, x), at = x[k];
  x[k] = at + kStep;
  const double above = value_of(op, x);
  x[k] = at - kStep;
  const double below = value_of(op, x);
  const double right = (above - middle) / kStep, left = (middle - below) / kStep;
  if (!std::isfinite(right) || !std::isfinite(left)) return std::nullopt;
  if (std::fabs(right - left) > 1e-3 * (1 + std::fabs(left))) return std::nullopt;
  return (above - below) / (2 * kStep);
}

/// How many derivatives of the operation were compared.
int compare(ScalarOp op) {
  ir::Program p = parsed(text_of(op));
  const auto status = differentiate(p);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  const auto valid = ir::validate(p);
  EXPECT_TRUE(valid.has_value()) << valid.error().text() << ir::print(p);
  auto evaluator = ir::eval::Evaluator::make(p);
  EXPECT_TRUE(evaluator.has_value());
  int compared = 0;
  const std::vector<double> points = {-12.3, -2.3, -0.7, -0.2, 0.15, 0.3, 0.9, 1.7, 14.6};
  for (const double a : points) {
    for (const double b : points) {
      std::vector<double> x = {a, b, 0.4};
      x.resize(static_cast<size_t>(scalar_op_arity(op)));
      const auto made = derivatives(*evaluator, x);
      if (!made) return compared;
      for (size_t k = 0; k < x.size(); ++k) {
        const auto expected = slope(op, x, k);
        if (!expected) continue;
        const double bound = 1e-4 * (1 + std::fabs(*expected));
        EXPECT_NEAR(made->forward[k], *expected, bound)
            << scalar_op_name(op) << " by operand " << k << " at " << a << ", " << b;
        EXPECT_DOUBLE_EQ(made->forward[k], made->reverse[k]) << scalar_op_name(op);
        compared++;
      }
      if (x.size() < 2) break;
    }
  }
  return compared;
}

TEST(Derivatives, of_all_operations_on_floats_are_those_of_central_differences) {
  int operations = 0;
  for (int i = 0; i <= static_cast<int>(ScalarOp::kSelect); ++i) {
    const auto op = static_cast<ScalarOp>(i);
    const bool takes_others = op == ScalarOp::kLdexp || op == ScalarOp::kSelect ||
                              op == ScalarOp::kConvert || op == ScalarOp::kBitcast;
    if (takes_others || !scalar_op_accepts(op, PrimType::kF64)) continue;
    if (scalar_op_result(op, PrimType::kF64, PrimType::kF64) != PrimType::kF64) continue;
    EXPECT_GT(compare(op), 0) << scalar_op_name(op);
    operations++;
  }
  EXPECT_GT(operations, 45);
}

const char* const kOperators =
    "fun main(x_0: f64, t_1: f64) -> (f64, f64, f64) {\n"
    "  let (r_2: f64, d_3: f64) = jvp (x_0; t_1) \\(a_4: f64) -> (f64) {\n"
    "    let s_5: f64 = mul.f64(a_4, a_4)\n"
    "    return s_5\n"
    "  }\n"
    "  let (r_6: f64, d_7: f64) = vjp (x_0; t_1) \\(a_8: f64) -> (f64) {\n"
    "    let s_9: f64 = with_vjp (a_8) \\(b_10: f64) -> (f64) {\n"
    "      return b_10\n"
    "    } adjoint \\(c_11: f64, e_12: f64) -> (f64) {\n"
    "      let f_13: f64 = add.f64(c_11, e_12)\n"
    "      return f_13\n"
    "    }\n"
    "    return s_9\n"
    "  }\n"
    "  return d_3, d_7, r_6\n"
    "}\n"
    "entry main = main\n";

TEST(Differentiate, operators_can_be_printed_and_read_back) {
  const ir::Program p = parsed(kOperators);
  EXPECT_EQ(ir::print(p), ir::print(parsed(ir::print(p))));
}

TEST(Differentiate, leaves_no_operator) {
  ir::Program p = parsed(kOperators);
  ASSERT_TRUE(differentiate(p).has_value());
  const std::string text = ir::print(p);
  EXPECT_EQ(text.find("vjp"), std::string::npos) << text;
  EXPECT_EQ(text.find("jvp"), std::string::npos) << text;
  EXPECT_TRUE(ir::validate(p).has_value());
}

TEST(Differentiate, leaves_other_programs_as_they_are) {
  const std::string text =
      "fun main(x_0: i64) -> (i64) {\n"
      "  let dead_1: i64 = add.i64(x_0, 0i64)\n"
      "  return x_0\n"
      "}\n"
      "entry main = main\n";
  ir::Program p = parsed(text);
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_EQ(ir::print(p), text);
}

TEST(Differentiate, values_that_do_not_vary_cost_nothing) {
  ir::Program p = parsed(
      "fun main(x_0: f64, y_1: f64, t_2: f64) -> (f64) {\n"
      "  let (r_3: f64, d_4: f64) = vjp (x_0; t_2) \\(a_5: f64) -> (f64) {\n"
      "    let s_6: f64 = sin.f64(y_1)\n"
      "    let e_7: f64 = add.f64(a_5, s_6)\n"
      "    return e_7\n"
      "  }\n"
      "  return d_4\n"
      "}\n"
      "entry main = main\n");
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_TRUE(p.functions[0].body.stms.empty()) << ir::print(p);
}

/// Whether the body of a combinator, at any depth, binds an array with such a dim.
bool has_array_per_element(const ir::Program& p, const ir::Body& b, ir::VarId dim,
                           bool inside = false) {
  bool found = false;
  for (const ir::Stm& s : b.stms) {
    const auto look = [&](ir::VarId v) {
      for (const ir::Atom& d : p.type_of(v).dims) found = found || d == ir::Atom(dim);
    };
    if (inside) {
      for (const ir::VarId v : s.pat) look(v);
      ir::visit_binders(s.exp, look);
    }
    const bool is_loop = std::holds_alternative<ir::ELoop>(s.exp);
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) {
      found = found || has_array_per_element(p, inner, dim, inside || !is_loop);
    });
  }
  return found;
}

/// A sum over n x n elements, in whose function a loop of at most n turns reads an array of t; the
/// index may depend on all three, or not on the outermost.
std::string sum_of_loops(const std::string& index) {
  return "fun main(n_0: i64, xs_1: [t_2]f64) -> ([t_2]f64) {\n"
         "  let (r_3: f64, d_4: [t_2]f64) = vjp (xs_1; 1.0f64) \\(ys_5: [t_2]f64) -> (f64) {\n"
         "    let is_6: [n_0]i64 = iota.i64(n_0, 0i64, 1i64)\n"
         "    let r_7: f64 = soac (n_0; is_6) map \\(h_8: i64) -> (f64) {\n"
         "      let q_9: f64 = soac (n_0; is_6) map \\(i_10: i64) -> (f64) {\n"
         "        let l_11: f64 = loop (s_12: f64 = 0.0f64) for j_13: i64 < i_10 do {\n"
         "          let k_14: i64 = " +
         index +
         "\n"
         "          let e_16: f64 = index ys_5[k_14]\n"
         "          let f_17: f64 = mul.f64(e_16, e_16)\n"
         "          let g_18: f64 = add.f64(s_12, f_17)\n"
         "          return g_18\n"
         "        }\n"
         "        let m_19: f64 = mul.f64(l_11, l_11)\n"
         "        return m_19\n"
         "      } reduce commutative \\(a_20: f64, b_21: f64) -> (f64) {\n"
         "        let c_22: f64 = add.f64(a_20, b_21)\n"
         "        return c_22\n"
         "      } {0.0f64}\n"
         "      return q_9\n"
         "    } reduce commutative \\(a_23: f64, b_24: f64) -> (f64) {\n"
         "      let c_25: f64 = add.f64(a_23, b_24)\n"
         "      return c_25\n"
         "    } {0.0f64}\n"
         "    return r_7\n"
         "  }\n"
         "  return d_4\n"
         "}\n"
         "entry main = main\n";
}

TEST(Differentiate, array_read_by_index_in_loops_of_maps_has_no_adjoint_per_element) {
  for (const char* index : {"rem.i64(j_13, h_8)", "add.i64(i_10, j_13)", "add.i64(h_8, j_13)"}) {
    ir::Program p = parsed(sum_of_loops(index));
    const ir::VarId t = p.type_of(p.functions[0].params[1]).dims[0].var();
    ASSERT_TRUE(differentiate(p).has_value());
    EXPECT_TRUE(ir::validate(p).has_value());
    EXPECT_FALSE(has_array_per_element(p, p.functions[0].body, t)) << ir::print(p);
  }
}

TEST(Differentiate, loop_at_the_same_indices_in_all_elements_writes_no_element_twice_per_map) {
  const auto dims_of_hist = [](const std::string& index) {
    ir::Program p = parsed(sum_of_loops(index));
    EXPECT_TRUE(differentiate(p).has_value());
    size_t most = 0;
    for (const ir::VarInfo& v : p.vars) {
      if (v.type.prim == PrimType::kF64) most = std::max(most, v.type.dims.size());
    }
    return most;
  };
  // The values: of i and j, or of h, i and j.
  EXPECT_EQ(dims_of_hist("add.i64(i_10, j_13)"), 2U);
  EXPECT_EQ(dims_of_hist("add.i64(h_8, j_13)"), 3U);
}

size_t loops_in(const ir::Body& b) {
  size_t count = 0;
  for (const ir::Stm& s : b.stms) {
    count += std::holds_alternative<ir::ELoop>(s.exp) ? 1 : 0;
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) { count += loops_in(inner); });
  }
  return count;
}

TEST(Differentiate, what_loops_compute_is_kept_for_sums_of_what_is_made_of_it) {
  // On the way back; what the function itself comes to nobody needs.
  ir::Program p = parsed(sum_of_loops("add.i64(i_10, j_13)"));
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_EQ(loops_in(p.functions[0].body), 1U) << ir::print(p);
}

/// How many sums stand in loops, and how many do not.
std::pair<size_t, size_t> sums_of(const ir::Body& b, bool in_loop = false) {
  std::pair<size_t, size_t> count;
  for (const ir::Stm& s : b.stms) {
    const auto* e = std::get_if<ir::ESoac>(&s.exp);
    if (e != nullptr && !e->reduces.empty()) ++(in_loop ? count.first : count.second);
    const bool loop = in_loop || std::holds_alternative<ir::ELoop>(s.exp);
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) {
      const auto more = sums_of(inner, loop);
      count.first += more.first;
      count.second += more.second;
    });
  }
  return count;
}

TEST(Differentiate, matrix_that_all_turns_multiply_with_gets_its_adjoint_behind_the_loop) {
  const std::string sum =
      " reduce commutative \\(a: f64, b: f64) -> (f64) {\n"
      "let c: f64 = add.f64(a, b)\n return c\n } {0.0f64}\n";
  ir::Program p = parsed(
      "fun main(k: i64, w: [m][m]f64, s: [n][m]f64, d: [n][m]f64) -> ([m][m]f64) {\n"
      "let (r: [n][m]f64, g: [m][m]f64) = vjp (w; d) \\(v: [m][m]f64) -> ([n][m]f64) {\n"
      " let l: [n][m]f64 = loop (t: [n][m]f64 = s) for i: i64 < k do {\n"
      "  let y: [n][m]f64 = soac (n; t) map \\(x: [m]f64) -> ([m]f64) {\n"
      "   let z: [m]f64 = soac (m; v) map \\(u: [m]f64) -> (f64) {\n"
      "    let q: f64 = soac (m; x, u) map \\(e: f64, f: f64) -> (f64) {\n"
      "     let h: f64 = mul.f64(e, f)\n return h\n }" +
      sum +
      "    return q\n }\n return z\n }\n"
      "  let o: [n][m]f64 = soac (n; y) map \\(x: [m]f64) -> ([m]f64) {\n"
      "   let z: [m]f64 = soac (m; x) map \\(e: f64) -> (f64) {\n"
      "    let h: f64 = sin.f64(e)\n return h\n }\n return z\n }\n"
      "  return o\n }\n return l\n }\n return g\n}\nentry main = main\n");
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_TRUE(ir::validate(p).has_value());
  // In loops the product on the way there, which is kept, and what the state gets on the way back.
  EXPECT_EQ(sums_of(p.functions[0].body), (std::pair<size_t, size_t>(2, 1))) << ir::print(p);
}

/// The gradient of what `stms` make of ys, an array of `size`: r_3.
ir::Program gradient_of(const std::string& size, const std::string& stms) {
  return parsed("fun main(n_0: i64, xs_1: [" + size + "]f64) -> ([" + size +
                "]f64) {\n"
                "  let (v_80: f64, d_81: [" +
                size + "]f64) = vjp (xs_1; 1.0f64) \\(ys_2: [" + size + "]f64) -> (f64) {\n" +
                stms +
                "    return r_3\n"
                "  }\n"
                "  return d_81\n"
                "}\n"
                "entry main = main\n");
}

TEST(Differentiate, loop_up_to_an_index_that_is_no_i64_has_no_array_per_turn) {
  ir::Program p =
      gradient_of("t_4",
                  "    let m_5: i32 = convert.i64.i32(n_0)\n"
                  "    let r_3: f64 = loop (s_6: f64 = 0.0f64) for i_7: i32 < m_5 do {\n"
                  "      let l_8: f64 = loop (u_9: f64 = s_6) for j_10: i32 < i_7 do {\n"
                  "        let k_11: i64 = convert.i32.i64(j_10)\n"
                  "        let e_12: f64 = index ys_2[k_11]\n"
                  "        let q_13: f64 = mul.f64(e_12, e_12)\n"
                  "        let a_14: f64 = add.f64(u_9, q_13)\n"
                  "        return a_14\n"
                  "      }\n"
                  "      return l_8\n"
                  "    }\n");
  const ir::VarId t = p.type_of(p.functions[0].params[1]).dims[0].var();
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_FALSE(has_array_per_element(p, p.functions[0].body, t)) << ir::print(p);
}

TEST(Differentiate, loop_up_to_what_a_loop_counts_has_no_array_per_turn) {
  ir::Program p =
      gradient_of("t_4",
                  "    let (r_3: f64, w_5: i64) = loop (s_6: f64 = 0.0f64, c_7: i64 = 1i64) for "
                  "i_8: i64 < n_0 do {\n"
                  "      let l_9: f64 = loop (u_10: f64 = s_6) for j_11: i64 < c_7 do {\n"
                  "        let e_12: f64 = index ys_2[j_11]\n"
                  "        let q_13: f64 = mul.f64(e_12, e_12)\n"
                  "        let a_14: f64 = add.f64(u_10, q_13)\n"
                  "        return a_14\n"
                  "      }\n"
                  "      let d_15: i64 = mul.i64(c_7, 2i64)\n"
                  "      return l_9, d_15\n"
                  "    }\n");
  const ir::VarId t = p.type_of(p.functions[0].params[1]).dims[0].var();
  ASSERT_TRUE(differentiate(p).has_value());
  EXPECT_FALSE(has_array_per_element(p, p.functions[0].body, t)) << ir::print(p);
}

TEST(Differentiate, small_table_is_no_pair_of_index_and_value_per_turn) {
  ir::Program p =
      gradient_of("4i64",
                  "    let is_5: [n_0]i64 = iota.i64(n_0, 0i64, 1i64)\n"
                  "    let r_3: f64 = soac (n_0; is_5) map \\(i_6: i64) -> (f64) {\n"
                  "      let l_7: f64 = loop (s_8: f64 = 0.0f64) for j_9: i64 < n_0 do {\n"
                  "        let k_10: i64 = add.i64(i_6, j_9)\n"
                  "        let m_11: i64 = and.i64(k_10, 3i64)\n"
                  "        let e_12: f64 = index ys_2[m_11]\n"
                  "        let q_13: f64 = mul.f64(e_12, e_12)\n"
                  "        let a_14: f64 = add.f64(s_8, q_13)\n"
                  "        return a_14\n"
                  "      }\n"
                  "      return l_7\n"
                  "    } reduce commutative \\(a_20: f64, b_21: f64) -> (f64) {\n"
                  "      let c_22: f64 = add.f64(a_20, b_21)\n"
                  "      return c_22\n"
                  "    } {0.0f64}\n");
  ASSERT_TRUE(differentiate(p).has_value());
  for (const ir::VarInfo& v : p.vars) {
    EXPECT_FALSE(v.type.prim == PrimType::kI64 && v.type.rank() > 1) << ir::print(p);
  }
}

TEST(Differentiate, loop_outside_of_maps_is_gone_back_through_no_longer_than_it_runs) {
  ir::Program p =
      gradient_of("t_4",
                  "    let r_3: f64 = loop (s_6: f64 = 1.0f64) for i_7: i64 < n_0 do {\n"
                  "      let l_8: f64 = loop (u_9: f64 = 0.0f64) for j_10: i64 < i_7 do {\n"
                  "        let e_12: f64 = index ys_2[j_10]\n"
                  "        let q_13: f64 = mul.f64(e_12, e_12)\n"
                  "        let a_14: f64 = add.f64(u_9, q_13)\n"
                  "        return a_14\n"
                  "      }\n"
                  "      let o_15: f64 = mul.f64(s_6, l_8)\n"
                  "      return o_15\n"
                  "    }\n");
  ASSERT_TRUE(differentiate(p).has_value());
  // No branch leaves turns out.
  const std::string text = ir::print(p);
  EXPECT_THAT(text, HasSubstr("soac"));
  EXPECT_THAT(text, testing::Not(HasSubstr("if "))) << text;
}

TEST(Differentiate, loops_that_change_shapes_are_refused_in_reverse_only) {
  const std::string body =
      " (x_0; x_0) \\(a_1: [4]f64) -> (f64) {\n"
      "    let (n_2: i64, b_3: [n_2]f64) = loop (n_4: i64 = 4i64, c_5: [n_4]f64 = a_1)"
      " for i_6: i64 < 2i64 do {\n"
      "      let m_7: i64 = add.i64(n_4, n_4)\n"
      "      let d_8: [m_7]f64 = concat (m_7; c_5, c_5)\n"
      "      return m_7, d_8\n"
      "    }\n"
      "    let e_9: f64 = index b_3[0i64]\n"
      "    return e_9\n"
      "  }\n";
  ir::Program forward =
      parsed("fun main(x_0: [4]f64) -> (f64) {\n  let (r_10: f64, d_11: f64) = jvp" + body +
             "  return d_11\n}\nentry main = main\n");
  EXPECT_TRUE(differentiate(forward).has_value());
  EXPECT_TRUE(ir::validate(forward).has_value());
  std::string text = body;
  text.replace(0, text.find(")") + 1, " (x_0; 1.0f64)");
  ir::Program reverse =
      parsed("fun main(x_0: [4]f64) -> ([4]f64) {\n  let (r_10: f64, d_11: [4]f64) = vjp" + text +
             "  return d_11\n}\nentry main = main\n");
  const auto status = differentiate(reverse);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::kCompile);
  EXPECT_THAT(status.error().message, HasSubstr("whose arrays change their shape"));
}

}  // namespace
}  // namespace kenaz::ad

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

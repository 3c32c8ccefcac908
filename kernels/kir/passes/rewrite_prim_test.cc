// All pairs of operations, one on the other's result, with constants at the edges: what a rule
// makes of them must give the same for every operand.
#include "kernels/kir/passes/rewrite_prim.h"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>
#include <string>
#include <vector>

#include "kernels/kir/print.h"

namespace kenaz::kir {
namespace {

constexpr PrimType kAllTypes[] = {
#define PRIM(e, name, bytes, kind) PrimType::e,
#include "protocol/prim_type.def"
#undef PRIM
};
constexpr ScalarOp kAllOps[] = {
#define SCALAR_OP(e, name, arity, domain, result) ScalarOp::e,
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
};

std::vector<PrimValue> edges(PrimType t) {
  std::vector<PrimValue> out;
  if (t == PrimType::kBool) return {PrimValue::of_bool(false), PrimValue::of_bool(true)};
  if (is_float(t)) {
    const double inf = std::numeric_limits<double>::infinity();
    for (const double d : {0.0, -0.0, 1.0, -1.0, 2.5, inf, -inf, std::nan("")}) {
      out.push_back(PrimValue::of_float(t, d));
    }
    return out;
  }
  const int64_t top = int64_t{1} << (prim_bits(t) - 1);  // the sign, or the largest power of 2
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, top,
                          int64_t{prim_bits(t)}, int64_t{prim_bits(t) + 1}}) {
    out.push_back(PrimValue::of_int(t, n));
  }
  return out;
}

bool is_plain(ScalarOp op) {
  return op != ScalarOp::kConvert && op != ScalarOp::kBitcast && op != ScalarOp::kSelect &&
         op != ScalarOp::kLdexp;
}

/// All operations of one or two operands on `v`: alone, with itself, with constants on either side,
/// conversions, and choices by it and of it.
std::vector<IPrim> operations_on(const Value& v, ValId dst) {
  std::vector<IPrim> all;
  const PrimType t = v.type.prim;
  const auto add = [&](ScalarOp op, PrimType type, PrimType to, std::vector<Value> args) {
    all.push_back({dst, op, type, to, std::move(args)});
  };
  for (const ScalarOp op : kAllOps) {
    if (!scalar_op_accepts(op, t) || !is_plain(op)) continue;
    if (scalar_op_arity(op) == 1) add(op, t, t, {v});
    if (scalar_op_arity(op) != 2) continue;
    add(op, t, t, {v, v});
    for (const PrimValue& c : edges(t)) {
      add(op, t, t, {v, c});
      add(op, t, t, {c, v});
    }
  }
  for (const PrimType to : kAllTypes) {
    add(ScalarOp::kConvert, t, to, {v});
    if (prim_size(t) == prim_size(to)) add(ScalarOp::kBitcast, t, to, {v});
  }
  const std::vector<PrimValue> e = edges(t);
  add(ScalarOp::kSelect, t, t, {boolean(true), v, e[0]});
  add(ScalarOp::kSelect, t, t, {boolean(false), v, e[0]});
  if (t != PrimType::kBool) return all;
  for (const PrimValue& a : e) {
    for (const PrimValue& b : e) add(ScalarOp::kSelect, t, t, {v, a, b});
  }
  add(ScalarOp::kSelect, PrimType::kI32, PrimType::kI32, {v, i32(3), i32(4)});
  return all;
}

PrimValue evaluate(const IPrim& i, const std::vector<PrimValue>& values) {
  std::vector<PrimValue> args;
  for (const Value& a : i.args) {
    args.push_back(a.is_const() ? a.constant() : values[a.id().index]);
  }
  return eval_scalar(i.op, i.type, i.to, args);
}

std::string text(const IPrim& i) {
  std::string out = std::string(scalar_op_name(i.op)) + "." + std::string(prim_name(i.type)) + "(";
  for (const Value& a : i.args) out += print_value(a) + " ";
  return out + ")";
}

/// Which NaN it is may differ: a conversion from f16 to f16 may make it a quiet one.
bool is_same(const PrimValue& a, const PrimValue& b) {
  const bool nans = is_float(a.type) && std::isnan(a.as_double()) && std::isnan(b.as_double());
  return a == b || (a.type == b.type && nans);
}

/// v0 is any, v1 = inner, v2 = outer. Returns whether a rule applied.
bool check_pair(const IPrim& inner, const IPrim& outer, const std::vector<PrimValue>& samples) {
  IPrim made = outer;
  const auto known = rewrite_prim(
      made, [&](const Value& v) { return !v.is_const() && v.id().index == 1 ? &inner : nullptr; });
  if (!known && made.args == outer.args && made.op == outer.op) return false;
  for (const PrimValue& x : samples) {
    std::vector<PrimValue> values{x};
    values.push_back(evaluate(inner, values));
    const PrimValue expected = evaluate(outer, values);
    PrimValue got;
    if (known) {
      got = known->is_const() ? known->constant() : values[known->id().index];
    } else {
      got = evaluate(made, values);
    }
    EXPECT_TRUE(is_same(expected, got))
        << text(outer) << " of " << text(inner) << " at v0 = " << print_value(x) << " became "
        << text(made) << ": " << print_value(expected) << ", " << print_value(got);
  }
  return true;
}

TEST(KirRewritePrim, EveryRuleIsExact) {
  size_t applied = 0;
  // Conversions lead to the other types.
  for (const PrimType t : {PrimType::kI8, PrimType::kU8, PrimType::kI32, PrimType::kU64,
                           PrimType::kF32, PrimType::kBool}) {
    const std::vector<PrimValue> samples = edges(t);
    for (const IPrim& inner : operations_on(Value({t}, ValId{0}), ValId{1})) {
      const Type result{scalar_op_result(inner.op, inner.type, inner.to)};
      for (const IPrim& outer : operations_on(Value(result, ValId{1}), ValId{2})) {
        if (check_pair(inner, outer, samples)) applied++;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(applied, 50'000U);
}

}  // namespace
}  // namespace kenaz::kir

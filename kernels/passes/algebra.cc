#include "kernels/passes/algebra.h"

#include <cmath>
#include <cstdlib>

namespace kenaz::passes {

using namespace ir;

namespace {

/// 1 / c if multiplying by it is exactly as dividing by c: both are powers of two, and neither is
/// subnormal, as some devices take those for zero.
std::optional<PrimValue> exact_reciprocal(const Atom& c, PrimType t) {
  if (!c.is_const() || !is_float(t)) return std::nullopt;
  const double d = c.constant().as_double();
  int exponent = 0;
  if (std::fabs(std::frexp(d, &exponent)) != 0.5) return std::nullopt;
  // d is +-2^(exponent - 1).
  const int most = t == PrimType::kF16 ? 14 : t == PrimType::kF32 ? 126 : 1022;
  if (std::abs(exponent - 1) > most) return std::nullopt;
  return PrimValue::of_float(t, 1 / d);
}

}  // namespace

std::optional<EPrim> simplify_prim_of_prim(const EPrim& e, const PrimOf& prim_of) {
  const auto made_by = [&](const Atom& a, ScalarOp op) -> const EPrim* {
    const EPrim* d = a.is_const() ? nullptr : prim_of(a.var());
    return d && d->op == op ? d : nullptr;
  };
  const PrimType t = e.type;
  if (e.op == ScalarOp::kDiv) {
    if (const auto r = exact_reciprocal(e.args[1], t)) {
      return EPrim{ScalarOp::kMul, t, t, {e.args[0], *r}};
    }
  }
  // A product is rounded correctly, which no power promises to be.
  if (e.op == ScalarOp::kPow && is_float(t) && e.args[1] == Atom(PrimValue::of_float(t, 2))) {
    return EPrim{ScalarOp::kMul, t, t, {e.args[0], e.args[0]}};
  }
  if (e.op == ScalarOp::kNot) {
    if (const EPrim* d = made_by(e.args[0], ScalarOp::kNot)) {
      return EPrim{ScalarOp::kOr, t, t, {d->args[0], d->args[0]}};
    }
    if (t != PrimType::kBool) return std::nullopt;
    // Of comparisons, but not of floats: neither a < b nor b <= a holds for a NaN.
    if (const EPrim* d = made_by(e.args[0], ScalarOp::kEq)) {
      return EPrim{ScalarOp::kNe, d->type, t, d->args};
    }
    if (const EPrim* d = made_by(e.args[0], ScalarOp::kNe)) {
      return EPrim{ScalarOp::kEq, d->type, t, d->args};
    }
    if (const EPrim* d = made_by(e.args[0], ScalarOp::kLt); d && !is_float(d->type)) {
      return EPrim{ScalarOp::kLe, d->type, t, {d->args[1], d->args[0]}};
    }
    if (const EPrim* d = made_by(e.args[0], ScalarOp::kLe); d && !is_float(d->type)) {
      return EPrim{ScalarOp::kLt, d->type, t, {d->args[1], d->args[0]}};
    }
  }
  if (e.op == ScalarOp::kSelect && t == PrimType::kBool) {
    if (e.args[2].is_bool(false)) return EPrim{ScalarOp::kAnd, t, t, {e.args[0], e.args[1]}};
    if (e.args[1].is_bool(true)) return EPrim{ScalarOp::kOr, t, t, {e.args[0], e.args[2]}};
  }
  // (x + c) + d, with - as well; integers wrap, so the constants may be added first.
  const bool sum = e.op == ScalarOp::kAdd || e.op == ScalarOp::kSub;
  if (sum && is_integer(t) && e.args[1].is_const()) {
    for (const ScalarOp inner : {ScalarOp::kAdd, ScalarOp::kSub}) {
      const EPrim* d = made_by(e.args[0], inner);
      if (!d || !d->args[1].is_const() || d->args[0].is_const()) continue;
      const PrimValue values[] = {d->args[1].constant(), e.args[1].constant()};
      const ScalarOp both = inner == e.op ? ScalarOp::kAdd : ScalarOp::kSub;
      return EPrim{inner, t, t, {d->args[0], eval_scalar(both, t, t, values)}};
    }
  }
  if (e.op == ScalarOp::kConvert && is_integer(t)) {
    const EPrim* d = made_by(e.args[0], ScalarOp::kConvert);
    // There and back through a type that holds all values.
    if (d && d->type == e.to && is_integer(d->type) && prim_size(t) >= prim_size(d->type)) {
      return EPrim{ScalarOp::kOr, e.to, e.to, {d->args[0], d->args[0]}};
    }
  }
  return std::nullopt;
}

}  // namespace kenaz::passes

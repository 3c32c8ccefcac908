#include "kernels/passes/algebra.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <vector>

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

/// Sums of products of variables, each with a factor; integers wrap, so all of it is modulo 2^64.
class Polynomial {
 public:
  explicit Polynomial(const PrimOf& prim_of) : prim_of_(prim_of) {}

  /// Adds `factor` times the value of the atom. False if it becomes too large.
  bool add(const Atom& a, uint64_t factor, int depth = kMostDepth) {
    Terms sum;
    if (!expand(a, depth, sum)) return false;
    for (const auto& [variables, times] : sum) {
      if ((terms_[variables] += factor * times) == 0) terms_.erase(variables);
    }
    return terms_.size() <= kMostTerms;
  }
  /// The atom that it is, if it is one.
  std::optional<Atom> atom(PrimType t) const {
    if (terms_.empty()) return PrimValue::of_int(t, 0);
    const auto& [variables, factor] = *terms_.begin();
    if (terms_.size() != 1) return std::nullopt;
    if (variables.empty()) return PrimValue::of_int(t, static_cast<int64_t>(factor));
    if (variables.size() != 1 || factor != 1) return std::nullopt;
    return Atom(VarId{variables[0]});
  }

 private:
  static constexpr int kMostDepth = 6;
  static constexpr size_t kMostTerms = 8, kMostFactors = 3;
  using Terms = std::map<std::vector<uint32_t>, uint64_t>;  // by variables, in their order

  bool expand(const Atom& a, int depth, Terms& out) const {
    if (a.is_const()) {
      out[{}] += static_cast<uint64_t>(a.constant().as_i64());
      return true;
    }
    const EPrim* e = depth == 0 ? nullptr : prim_of_(a.var());
    const bool is_sum = e != nullptr && (e->op == ScalarOp::kAdd || e->op == ScalarOp::kSub);
    if (e == nullptr || !(is_sum || e->op == ScalarOp::kMul)) {
      out[{a.var().index}] += 1;
      return true;
    }
    Terms x, y;
    if (!expand(e->args[0], depth - 1, x) || !expand(e->args[1], depth - 1, y)) return false;
    if (is_sum) {
      const uint64_t factor = e->op == ScalarOp::kAdd ? 1 : ~uint64_t{0};
      for (const auto& [variables, times] : x) out[variables] += times;
      for (const auto& [variables, times] : y) out[variables] += factor * times;
      return out.size() <= kMostTerms;
    }
    for (const auto& [left, times] : x) {
      for (const auto& [right, more] : y) {
        std::vector<uint32_t> variables;
        std::merge(left.begin(), left.end(), right.begin(), right.end(),
                   std::back_inserter(variables));
        if (variables.size() > kMostFactors) return false;
        out[std::move(variables)] += times * more;
      }
    }
    return out.size() <= kMostTerms;
  }

  const PrimOf& prim_of_;
  Terms terms_;
};

/// The difference, if it is one atom by what its operands are made of, as the size (i + 1) * k -
/// i * k of a slice is.
std::optional<Atom> difference(const EPrim& e, const PrimOf& prim_of) {
  Polynomial sum(prim_of);
  if (!sum.add(e.args[0], 1) || !sum.add(e.args[1], ~uint64_t{0})) return std::nullopt;
  return sum.atom(e.type);
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
    if (e.args[1].is_bool(false) && e.args[2].is_bool(true)) {
      return EPrim{ScalarOp::kNot, t, t, {e.args[0]}};
    }
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
  if (e.op == ScalarOp::kSub && is_integer(t) && !e.args[0].is_const() && !e.args[1].is_const()) {
    if (const auto a = difference(e, prim_of)) return EPrim{ScalarOp::kOr, t, t, {*a, *a}};
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

#include "kernels/ir/analysis/intervals.h"

#include <algorithm>

namespace kenaz::ir {

namespace {

std::optional<Interval> of_type(PrimType t) {
  if (!is_integer(t) || prim_bits(t) > 32) return {};
  const int64_t count = int64_t{1} << prim_bits(t);
  if (prim_kind(t) == PrimKind::kUnsigned) return Interval{0, count - 1};
  return Interval{-count / 2, count / 2 - 1};
}

/// nullopt where 64 bits may be too few.
std::optional<Interval> product(const Interval& a, const Interval& b) {
  if (std::max(a.high, b.high) > INT32_MAX) return {};
  const auto [low, high] =
      std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return Interval{low, high};
}

}  // namespace

std::optional<Interval> Intervals::of(const Program& p, const Atom& a) const {
  const auto type = of_type(a.is_const() ? a.constant().type : p.type_of(a.var()).prim);
  if (!type) return {};
  if (a.is_const()) return Interval{a.constant().as_i64(), a.constant().as_i64()};
  if (!p.type_of(a.var()).is_scalar()) return {};
  const auto it = known_.find(a.var());
  return it == known_.end() ? type : it->second;
}

std::optional<Interval> Intervals::exact(const Program& p, const EPrim& e) const {
  const auto type = of_type(scalar_op_result(e.op, e.type, e.to));
  if (!type || e.args.empty() || e.args.size() > 2) return {};
  const auto first = of(p, e.args[0]), second = of(p, e.args.back());
  if (!first || !second) return {};
  const Interval &a = *first, &b = *second;
  const bool by_constant = e.args.back().is_const(), positive = a.low >= 0;
  const bool by_shift = by_constant && b.is_in(0, prim_bits(e.type) - 1);
  std::optional<Interval> out;
  switch (e.op) {
    case ScalarOp::kConvert: out = a; break;
    case ScalarOp::kAdd: out = Interval{a.low + b.low, a.high + b.high}; break;
    case ScalarOp::kSub: out = Interval{a.low - b.high, a.high - b.low}; break;
    case ScalarOp::kMul: out = product(a, b); break;
    case ScalarOp::kMin: out = Interval{std::min(a.low, b.low), std::min(a.high, b.high)}; break;
    case ScalarOp::kMax: out = Interval{std::max(a.low, b.low), std::max(a.high, b.high)}; break;
    case ScalarOp::kQuot:
    case ScalarOp::kDiv:
      if (by_constant && positive && b.low > 0) out = Interval{a.low / b.low, a.high / b.low};
      break;
    case ScalarOp::kRem:
    case ScalarOp::kMod:
      if (by_constant && positive && b.low > 0) out = Interval{0, std::min(a.high, b.low - 1)};
      break;
    case ScalarOp::kAnd:
      if (by_constant && b.low >= 0) out = Interval{0, positive ? std::min(a.high, b.low) : b.low};
      break;
    case ScalarOp::kShr:
    case ScalarOp::kLShr:
      if (by_shift && positive) out = Interval{a.low >> b.low, a.high >> b.low};
      break;
    default: break;
  }
  if (!out || !out->is_in(type->low, type->high)) return {};
  return out;
}

void Intervals::define(const Program& p, const Stm& s) {
  if (s.pat.size() != 1) return;
  std::optional<Interval> known;
  if (const auto* atom = std::get_if<EAtom>(&s.exp)) known = of(p, atom->atom);
  if (const auto* e = std::get_if<EPrim>(&s.exp)) known = exact(p, *e);
  if (known) known_.insert_or_assign(s.pat[0], *known);
}

}  // namespace kenaz::ir

#include "kernels/passes/differences.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kenaz::passes {
namespace {

using namespace ir;

/// Of numbers that are added: a few of them are far from where anything could overflow.
constexpr int64_t kMost = int64_t{1} << 58;
/// Of those that are multiplied with a factor.
constexpr int64_t kMostFactor = int64_t{1} << 20, kMostTimes = kMost / kMostFactor;
/// How many sums, and how many bounds, are looked through.
constexpr int kSums = 4, kBounds = 3;
/// Of one variable, by conditions. (What is looked at grows with their third power.)
constexpr size_t kMostBounds = 16;

bool is_signed(PrimType t) { return is_integer(t) && prim_kind(t) == PrimKind::kSigned; }

int64_t least_of(PrimType t) {
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * prim_size(t));
}
int64_t most_of(PrimType t) { return ~least_of(t); }

std::optional<int64_t> small_constant(const Atom& a) {
  if (!a.is_const() || !is_signed(a.constant().type)) return std::nullopt;
  const int64_t n = a.constant().as_i64();
  return n > -kMost && n < kMost ? std::optional(n) : std::nullopt;
}

/// Of factors above 0.
std::optional<int64_t> small_factor(const Atom& a) {
  const auto n = small_constant(a);
  return n && *n > 0 && *n < kMostFactor ? n : std::nullopt;
}

}  // namespace

void Differences::define(VarId result, const EPrim& e) {
  if (!is_signed(e.type)) return;
  if (e.op == ScalarOp::kConvert) {
    const bool keeps = is_signed(e.to) && prim_size(e.to) >= prim_size(e.type);
    if (keeps) steps_[result] = {e.args[0], std::nullopt, 0, e.to};
    return;
  }
  if (e.op == ScalarOp::kMul) {
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const auto n = small_factor(e.args[side]);
      if (n && !e.args[1 - side].is_const()) products_[result] = {e.args[1 - side], *n};
    }
    return;
  }
  if (e.op == ScalarOp::kMod) {
    if (!e.args[1].is_const()) remainders_.emplace(result, e.args[1].var());
    return;
  }
  if (e.op == ScalarOp::kDiv || e.op == ScalarOp::kQuot) {
    // Of what is not negative both are the same.
    const auto n = small_factor(e.args[1]);
    const bool is_natural = follows(PrimValue::of_int(e.type, 0), e.args[0], 0);
    if (n && (is_natural || e.op == ScalarOp::kDiv)) quotients_[result] = {e.args[0], *n};
    return;
  }
  if (e.op != ScalarOp::kAdd && e.op != ScalarOp::kSub) return;
  const bool subtracts = e.op == ScalarOp::kSub;
  if (const auto n = small_constant(e.args[1])) {
    steps_[result] = {e.args[0], std::nullopt, subtracts ? -*n : *n, e.type};
  } else if (const auto m = small_constant(e.args[0]); m && !subtracts) {
    steps_[result] = {e.args[1], std::nullopt, *m, e.type};
  } else if (subtracts) {
    steps_[result] = {e.args[0], e.args[1], 0, e.type};
  }
}

std::optional<Differences::Sum> Differences::sum_of(const Atom& a, int depth) const {
  if (a.is_const()) {
    const auto n = small_constant(a);
    return n ? std::optional(Sum{{}, {}, *n}) : std::nullopt;
  }
  const auto step = steps_.find(a.var());
  if (step != steps_.end() && depth > 0) {
    const auto sum = sum_of(step->second, depth - 1);
    if (sum && fits(*sum, step->second.type, std::min(depth - 1, kBounds))) return sum;
  }
  return Sum{a.var(), {}, 0};
}

std::optional<Differences::Sum> Differences::sum_of(const Step& s, int depth) const {
  auto sum = sum_of(s.plus, depth);
  if (!sum) return std::nullopt;
  if (s.minus) {
    const auto minus = sum_of(*s.minus, depth);
    if (!minus || sum->minus || minus->minus) return std::nullopt;
    sum->minus = minus->plus;
    sum->by -= minus->by;
  }
  sum->by += s.by;
  return sum->by > -kMost && sum->by < kMost ? sum : std::nullopt;
}

Differences::AtMost Differences::at_most(const Sum& a, const Sum& b, int64_t by) {
  AtMost x{{}, {}, b.by - a.by + by};
  if (a.plus) x.left.push_back(*a.plus);
  if (b.minus) x.left.push_back(*b.minus);
  if (b.plus) x.right.push_back(*b.plus);
  if (a.minus) x.right.push_back(*a.minus);
  std::erase_if(x.left, [&](VarId v) {
    const auto same = std::find(x.right.begin(), x.right.end(), v);
    if (same == x.right.end()) return false;
    x.right.erase(same);
    return true;
  });
  return x;
}

std::optional<int64_t> Differences::low(VarId v, int depth) const {
  std::optional<int64_t> best = range_of_(v).low;
  const auto at_least = [&](int64_t n) { best = std::max(best.value_or(n), n); };
  if (const auto learnt = lows_.find(v); learnt != lows_.end()) {
    for (const int64_t n : learnt->second) at_least(n);
  }
  if (is_remainder(v, depth)) at_least(0);
  // Of a product only if it is seen that it does not wrap.
  const bool is_product = any_bound_of_product(v, depth, [](const Bound&) { return true; });
  if (is_product) at_least(0);
  return best;
}

bool Differences::is_remainder(VarId v, int depth) const {
  const auto it = remainders_.find(v);
  return it != remainders_.end() && depth > 0 && low(it->second, depth - 1).value_or(0) > 0;
}

const Differences::Scaled* Differences::quotient(const MaybeVar& v) const {
  const auto it = v ? quotients_.find(*v) : quotients_.end();
  return it == quotients_.end() ? nullptr : &it->second;
}

// 0 <= x <= n / c + k, so x * c <= n + k * c, which does not wrap.
bool Differences::any_bound_of_product(VarId v, int depth,
                                       const std::function<bool(const Bound&)>& good) const {
  const auto product = products_.find(v);
  if (product == products_.end() || depth == 0) return false;
  const auto [of, c] = product->second;
  const VarId x = of.var();
  if (low(x, depth - 1).value_or(-1) < 0) return false;
  return any_bound(x, 0, depth - 1, [&, c = c](const Bound& b) {
    if (b.by <= -kMostTimes || b.by > 0) return false;
    const Scaled* q = quotient(b.other);
    if (q == nullptr || q->by != c) return false;
    // What is divided fits the product's type.
    if (prim_size(p_.type_of(v).prim) < prim_size(p_.type_of(*b.other).prim)) return false;
    const auto n = sum_of(q->of, 1);
    return n && !n->minus && n->by + b.by * c <= 0 && good({n->plus, n->by + b.by * c});
  });
}

bool Differences::any_bound(VarId v, int64_t by, int depth,
                            const std::function<bool(const Bound&)>& good) const {
  if (good({v, by})) return true;
  if (depth == 0) return false;
  const auto from = [&](const Bound& b) {
    return b.other ? any_bound(*b.other, by + b.by, depth - 1, good) : good({{}, by + b.by});
  };
  const Range range = range_of_(v);
  if (range.below != nullptr) {
    for (const Atom& a : *range.below) {
      const auto sum = sum_of(a, depth - 1);
      if (sum && !sum->minus && from({sum->plus, sum->by - 1})) return true;
    }
  }
  if (is_remainder(v, depth) && from({remainders_.at(v), -1})) return true;
  if (any_bound_of_product(v, depth, from)) return true;
  const auto learnt = above_.find(v);
  return learnt != above_.end() && std::any_of(learnt->second.begin(), learnt->second.end(), from);
}

bool Differences::holds(AtMost x, int depth) const {
  if (x.left.size() > 1) return false;
  while (x.right.size() > 1 || (x.left.empty() && !x.right.empty())) {
    // What is not negative can be left out on the right, or counts as the least that it is.
    const auto known = std::find_if(x.right.begin(), x.right.end(),
                                    [&](VarId v) { return low(v, depth).has_value(); });
    if (known == x.right.end()) return false;
    const int64_t least = *low(*known, depth);
    if (least <= -kMost || least >= kMost) return false;
    x.by += least;
    x.right.erase(known);
  }
  if (x.left.empty()) return x.by >= 0;
  if (!x.right.empty() && x.by > -kMostTimes && x.by < kMostTimes) {
    // Of quotients by the same number: rounding down keeps the order.
    const Scaled *a = quotient(x.left[0]), *b = quotient(x.right[0]);
    if (a && b && a->by == b->by && depth > 0) {
      const auto m = sum_of(a->of, depth - 1), n = sum_of(b->of, depth - 1);
      if (m && n && holds(at_most(*m, *n, x.by * a->by), depth - 1)) return true;
    }
  }
  return any_bound(x.left[0], 0, depth, [&](const Bound& b) {
    if (b.by <= -kMost || b.by >= kMost) return false;
    if (b.other) return !x.right.empty() && *b.other == x.right[0] && b.by <= x.by;
    const auto least = x.right.empty() ? std::optional<int64_t>(0) : low(x.right[0], depth);
    return least && *least > -kMost && *least < kMost && b.by <= *least + x.by;
  });
}

bool Differences::fits(const Sum& s, PrimType t, int depth) const {
  // Of two that are not negative the difference fits, and one less does too.
  if (s.minus) {
    const auto natural = [&](const MaybeVar& v) { return !v || low(*v, depth).value_or(-1) >= 0; };
    return natural(s.plus) && natural(s.minus) && (s.by == 0 || s.by == -1);
  }
  if (!s.plus) return s.by >= least_of(t) && s.by <= most_of(t);
  if (s.by == 0) return true;
  if (s.by < 0) {
    const auto least = low(*s.plus, depth);
    return least && *least >= least_of(t) - s.by;
  }
  return any_bound(*s.plus, 0, depth, [&](const Bound& b) {
    // The other one fits, too.
    if (b.other) return prim_size(p_.type_of(*b.other).prim) <= prim_size(t) && b.by + s.by <= 0;
    return b.by < kMost && b.by + s.by <= most_of(t);
  });
}

bool Differences::follows(const Atom& a, const Atom& b, int64_t by) const {
  const auto x = sum_of(a, kSums), y = sum_of(b, kSums);
  return x && y && holds(at_most(*x, *y, by), kBounds);
}

std::optional<bool> Differences::compare(const EPrim& e) const {
  if (!is_signed(e.type) || e.args.size() != 2) return std::nullopt;
  const Atom &a = e.args[0], &b = e.args[1];
  switch (e.op) {
    case ScalarOp::kLt:
      if (follows(a, b, -1)) return true;
      if (follows(b, a, 0)) return false;
      return std::nullopt;
    case ScalarOp::kLe:
      if (follows(a, b, 0)) return true;
      if (follows(b, a, -1)) return false;
      return std::nullopt;
    case ScalarOp::kEq:
    case ScalarOp::kNe:
      if (follows(a, b, -1) || follows(b, a, -1)) return e.op == ScalarOp::kNe;
      return std::nullopt;
    default: return std::nullopt;
  }
}

void Differences::learn(const Atom& a, const Atom& b, int64_t by) {
  const auto x = sum_of(a, kSums), y = sum_of(b, kSums);
  if (!x || !y) return;
  const AtMost fact = at_most(*x, *y, by);
  if (fact.left.size() > 1 || fact.right.size() > 1) return;
  if (fact.left.empty()) {
    if (fact.right.empty()) return;
    lows_[fact.right[0]].push_back(-fact.by);
    order_.push_back({fact.right[0], true});
    return;
  }
  const MaybeVar other = fact.right.empty() ? MaybeVar{} : MaybeVar{fact.right[0]};
  std::vector<Bound>& known = above_[fact.left[0]];
  if (known.size() == kMostBounds) return;
  known.push_back({other, fact.by});
  order_.push_back({fact.left[0], false});
}

void Differences::assume(const EPrim& e, bool holds) {
  if (!is_signed(e.type) || e.args.size() != 2) return;
  const Atom &a = e.args[0], &b = e.args[1];
  switch (e.op) {
    case ScalarOp::kLt: return holds ? learn(a, b, -1) : learn(b, a, 0);
    case ScalarOp::kLe: return holds ? learn(a, b, 0) : learn(b, a, -1);
    case ScalarOp::kEq:
    case ScalarOp::kNe:
      if (holds == (e.op == ScalarOp::kEq)) {
        learn(a, b, 0);
        learn(b, a, 0);
      } else if (follows(b, a, 0)) {
        learn(b, a, -1);
      } else if (follows(a, b, 0)) {
        learn(a, b, -1);
      }
      return;
    default: return;
  }
}

void Differences::assume_positive(VarId v) {
  lows_[v].push_back(1);
  order_.push_back({v, true});
}

void Differences::back_to(size_t mark) {
  for (; order_.size() > mark; order_.pop_back()) {
    const auto [v, is_low] = order_.back();
    is_low ? lows_[v].pop_back() : above_[v].pop_back();
  }
}

}  // namespace kenaz::passes

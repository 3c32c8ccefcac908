#include "kernels/passes/ranges.h"

#include <algorithm>

namespace kenaz::passes {
namespace {

using namespace ir;

constexpr int64_t kNoLow = std::numeric_limits<int64_t>::min();
/// Far from where anything could overflow.
constexpr int64_t kSafe = int64_t{1} << 30;

uint64_t conversion_key(VarId v, PrimType to) {
  return uint64_t{v.index} * kPrimTypeCount + static_cast<uint64_t>(to);
}

bool small(int64_t n) { return n > -kSafe && n < kSafe; }

/// Adds the bound unless it does not fit the type.
void add_bound(std::vector<Atom>& below, PrimType t, int64_t n) {
  const PrimValue v = PrimValue::of_int(t, n);
  if (v.as_i64() == n) below.push_back(v);
}

std::optional<int64_t> constant(const Atom& a) {
  if (!a.is_const() || !is_integer(a.constant().type)) return std::nullopt;
  return a.constant().as_i64();
}

}  // namespace

void Ranges::nonnegative(VarId v) {
  auto& r = ranges_[v];
  r.low = std::max<int64_t>(r.low, 0);
}

void Ranges::index(VarId v, const Atom& bound) {
  auto& r = ranges_[v];
  r.low = std::max<int64_t>(r.low, 0);
  r.below.push_back(bound);
}

Ranges::Range Ranges::of(const Atom& a) const {
  if (const auto c = constant(a)) {
    Range r{*c, {}};
    if (*c < std::numeric_limits<int64_t>::max()) add_bound(r.below, a.constant().type, *c + 1);
    return r;
  }
  if (a.is_const()) return {};
  const auto it = ranges_.find(a.var());
  return it == ranges_.end() ? Range{} : it->second;
}

Differences::Range Ranges::known(VarId v) const {
  const auto it = ranges_.find(v);
  if (it == ranges_.end()) return {};
  const Range& r = it->second;
  return {r.low == kNoLow ? std::nullopt : std::optional(r.low), &r.below};
}

bool Ranges::const_below(const Range& r, int64_t& bound) {
  bool found = false;
  for (const Atom& b : r.below) {
    const auto c = constant(b);
    if (c && (!found || *c < bound)) bound = *c;
    found = found || c.has_value();
  }
  return found;
}

bool Ranges::less(const Atom& a, const Atom& b) const {
  const Range r = of(a);
  if (std::find(r.below.begin(), r.below.end(), b) != r.below.end()) return true;
  int64_t top = 0;
  if (!const_below(r, top)) return false;
  const Range s = of(b);
  return s.low != kNoLow && top <= s.low;
}

bool Ranges::fits(const Atom& a, PrimType t) const {
  const Range r = of(a);
  int64_t top = 0;
  // Code that never runs may have bounds that no value keeps.
  return r.low >= 0 && const_below(r, top) && top > r.low &&
         PrimValue::of_int(t, top - 1).as_i64() == top - 1;
}

std::optional<bool> Ranges::compare(const EPrim& e) const {
  if (!is_integer(e.type) || e.args.size() != 2) return std::nullopt;
  const Atom& a = e.args[0];
  const Atom& b = e.args[1];
  // Unsigned values above the signed range have no place here.
  if (e.type == PrimType::kU64) return std::nullopt;
  if (e.op == ScalarOp::kLt) {
    if (less(a, b)) return true;
    if (const auto c = constant(b); c && of(a).low != kNoLow && of(a).low >= *c) return false;
  }
  if (e.op == ScalarOp::kLe) {
    if (less(a, b)) return true;
    if (const auto c = constant(a); c && of(b).low != kNoLow && *c <= of(b).low) return true;
    if (less(b, a)) return false;
  }
  return std::nullopt;
}

void Ranges::define(VarId result, const EPrim& e) {
  if (!is_integer(e.type) || e.type == PrimType::kU64 || e.args.empty()) return;
  Range out;
  const bool choice = e.op == ScalarOp::kSelect;
  const Range a = of(e.args[choice ? 1 : 0]);
  const Range b = e.args.size() > 1 ? of(e.args[choice ? 2 : 1]) : Range{};
  const auto constant_arg = e.args.size() == 2 ? constant(e.args[1]) : std::nullopt;
  const bool has_c = constant_arg.has_value();
  const int64_t c = constant_arg.value_or(0);
  const auto common = [&] {
    for (const Atom& x : a.below) {
      if (std::find(b.below.begin(), b.below.end(), x) != b.below.end()) out.below.push_back(x);
    }
  };
  switch (e.op) {
    case ScalarOp::kConvert: {
      if (e.args[0].is_const()) return;
      converted_[conversion_key(e.args[0].var(), e.to)] = result;
      const bool wider =
          is_integer(e.to) && e.to != PrimType::kU64 &&
          prim_size(e.to) >= prim_size(e.type) + (prim_kind(e.to) != prim_kind(e.type));
      const bool keeps =
          is_integer(e.to) && e.to != PrimType::kU64 && (wider || fits(e.args[0], e.to));
      // What has no sign has no more values than its bits.
      const bool is_natural = wider && prim_kind(e.type) == PrimKind::kUnsigned;
      if (is_natural) add_bound(out.below, e.to, int64_t{1} << (8 * prim_size(e.type)));
      if (!keeps || (!is_natural && (a.low == kNoLow || a.low < 0))) return;
      out.low = std::max<int64_t>(a.low, 0);
      for (const Atom& x : a.below) {
        if (const auto n = constant(x)) add_bound(out.below, e.to, *n);
        if (x.is_const() || !wider) continue;
        const auto it = converted_.find(conversion_key(x.var(), e.to));
        if (it != converted_.end()) out.below.push_back(it->second);
      }
      break;
    }
    case ScalarOp::kSub:
      // Down by a constant, from at least that constant: neither wraps nor loses upper bounds.
      if (!has_c || c < 0 || !small(c) || a.low < c) return;
      out.low = a.low - c;
      out.below = a.below;
      break;
    case ScalarOp::kAdd: {
      int64_t top = 0;
      if (!has_c || !small(c) || !small(a.low) || !const_below(a, top) || !small(top)) return;
      if (prim_size(e.type) < 4 || (prim_kind(e.type) == PrimKind::kUnsigned && a.low + c < 0)) {
        return;
      }
      out.low = a.low + c;
      add_bound(out.below, e.type, top + c);
      break;
    }
    case ScalarOp::kMul: {
      int64_t top = 0;
      if (!has_c || c <= 0 || c > (1 << 15) || prim_size(e.type) < 8) return;
      if (!const_below(a, top) || !small(top) || a.low < 0) return;
      out.low = a.low * c;
      add_bound(out.below, e.type, (top - 1) * c + 1);
      break;
    }
    case ScalarOp::kDiv:
    case ScalarOp::kQuot:
      if (!has_c || c <= 0 || a.low < 0) return;
      out.low = a.low / c;
      out.below = a.below;
      break;
    case ScalarOp::kMod:
    case ScalarOp::kRem:
      if (!has_c || c <= 0 || (a.low < 0 && e.op == ScalarOp::kRem)) return;
      out.low = 0;
      if (a.low >= 0) out.below = a.below;
      out.below.push_back(e.args[1]);
      break;
    case ScalarOp::kAnd:
      if (!has_c || c < 0) return;
      out.low = 0;
      if (small(c)) add_bound(out.below, e.type, c + 1);
      break;
    case ScalarOp::kMin:
      out.low = std::min(a.low, b.low);
      out.below = a.below;
      out.below.insert(out.below.end(), b.below.begin(), b.below.end());
      break;
    case ScalarOp::kMax:
      out.low = std::max(a.low, b.low);
      common();
      break;
    case ScalarOp::kSelect:
      out.low = std::min(a.low, b.low);
      common();
      break;
    default: return;
  }
  if (out.low != kNoLow || !out.below.empty()) ranges_[result] = std::move(out);
}

}  // namespace kenaz::passes

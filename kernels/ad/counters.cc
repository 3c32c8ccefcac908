#include "kernels/ad/counters.h"

#include <algorithm>

namespace kenaz::ad {

using namespace ir;

void Counters::forget(Mark since) {
  for (size_t k = since; k < sizes_.size(); ++k) when_.erase(sizes_[k]);
  sizes_.resize(since);
}

void Counters::enter_map() {
  if (depth_ == 0) outermost_ = mark();
  ++depth_;
}

void Counters::note(const Body& b) {
  for (const Stm& s : b.stms) note(s);
}

void Counters::note(const Stm& s) {
  if (const auto* e = std::get_if<EIota>(&s.exp)) {
    // It may stand here although its size was checked further inside only (passes/hoist).
    bind_place(s.pat[0]);
    if (e->type == PrimType::kI64 && e->start.is_int(0) && e->stride.is_int(1)) {
      iotas_.emplace(s.pat[0], e->n);
    }
    return;
  }
  for (const VarId v : s.pat) bind(v);
  if (const auto* sum = std::get_if<EPrim>(&s.exp)) {
    const bool known = sum->op == ScalarOp::kAdd || sum->op == ScalarOp::kSub;
    if (known && sum->type == PrimType::kI64) sums_.emplace(s.pat[0], *sum);
  }
}

void Counters::bind_place(VarId v) {
  if (depth_ > 0) depths_.emplace(v, depth_);
}

void Counters::bind(VarId v) {
  bind_place(v);
  for (const Atom& d : p_.type_of(v).dims) {
    if (!d.is_const() && when_.emplace(d.var(), mark()).second) sizes_.push_back(d.var());
  }
}

void Counters::below(VarId v, const Atom& bound) { below_.emplace(v, bound); }

void Counters::element(VarId v, VarId array) {
  if (const auto n = length_of_iota(array)) below(v, *n);
}

void Counters::clamped(const Atom& v, const Atom& of) {
  if (v.is_const() || v == of) return;
  clamped_.insert(v.var());
  if (!of.is_const()) depths_[v.var()] = depth_of(of.var());
}

std::optional<Atom> Counters::length_of_iota(VarId array) const {
  const auto it = iotas_.find(array);
  return it == iotas_.end() ? std::nullopt : std::optional(it->second);
}

bool Counters::is_size(const Atom& a, Mark by) const {
  if (a.is_const()) return a.constant().as_i64() >= 0;
  if (clamped_.contains(a.var())) return true;
  const auto it = when_.find(a.var());
  return it != when_.end() && it->second < by;
}

Atom Counters::at_most(const Atom& a) const {
  if (a.is_const()) return a;
  const Atom bound = bound_of(a);
  return bound.is_const() || depth_of(bound.var()) < depth_of(a.var()) ? bound : a;
}

int Counters::depth_of(VarId v) const {
  const auto it = depths_.find(v);
  return it == depths_.end() ? 0 : it->second;
}

Atom Counters::bound_of(const Atom& a) const {
  if (a.is_const()) return a;
  if (is_index(a)) return bound_of(below_.at(a.var()));
  const auto it = sums_.find(a.var());
  if (it == sums_.end()) return a;
  const Atom &x = it->second.args[0], &y = it->second.args[1];
  const auto constant = [&] { return y.constant().as_i64(); };
  if (it->second.op == ScalarOp::kSub) {
    return is_index(y) || (y.is_const() && constant() >= 0) ? bound_of(x) : a;
  }
  // An index is less than its bound.
  if (is_index(x) && y.is_const() && constant() <= 1) return bound_of(x);
  if (is_index(y) && x.is_int(1)) return bound_of(y);
  return a;
}

}  // namespace kenaz::ad

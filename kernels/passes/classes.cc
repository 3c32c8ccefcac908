#include "kernels/passes/classes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "protocol/base/overloaded.h"

namespace kenaz::passes {

using namespace ir;

namespace {

/// So many values of what decides at most.
constexpr size_t kMostValues = 64;

bool is_counted(PrimType t) { return t == PrimType::kI32 || t == PrimType::kI64; }

bool is_set(const std::vector<int64_t>& c) {
  return std::all_of(c.begin(), c.end(), [](int64_t k) { return k == 0 || k == 1; });
}

/// Of constants.
std::optional<Place> fold(const TermPrim& e, const std::vector<Place>& args) {
  if (is_float(e.type)) return {};
  std::vector<PrimValue> values;
  for (const Place& p : args) {
    values.push_back(e.type == PrimType::kBool ? PrimValue::of_bool(p.constant != 0)
                                               : PrimValue::of_int(e.type, p.constant));
  }
  const PrimValue made = eval_scalar(e.op, e.type, e.to, values);
  if (is_float(made.type)) return {};
  Place p;
  p.constant = is_integer(made.type) ? made.as_i64() : int64_t(made.bits != 0);
  return p;
}

}  // namespace

bool Place::is_small() const {
  constexpr int64_t kMost = 1 << 20;
  const auto small = [](int64_t n) { return -kMost <= n && n <= kMost; };
  const auto all = [&](const std::map<TermId, int64_t>& flags) {
    return std::all_of(flags.begin(), flags.end(), [&](const auto& f) { return small(f.second); });
  };
  return small(constant) && small(number) && small(width) && all(prefixes) && all(totals);
}

bool Classes::find(TermId place) {
  if (!decide(place) || !evaluate_flags()) return false;
  std::vector<Place> places;
  for (size_t v = 0; v < count_; ++v) {
    take(v);
    auto found = evaluate(place);
    if (!found || found->constant != found->number - 1) return false;
    places.push_back(std::move(*found));
  }
  return order(places);
}

bool Classes::find_number(TermId number) {
  if (!decide(number)) return false;
  for (size_t v = 0; v < count_; ++v) {
    take(v);
    const auto found = evaluate(number);
    if (!found || !found->is_constant()) return false;
    classes_.push_back(static_cast<int>(found->constant));
  }
  return true;
}

void Classes::put_others_into(int last) {
  for (int& c : classes_) c = 0 <= c && c < last ? c : last;
}

int Classes::count() const { return *std::max_element(classes_.begin(), classes_.end()) + 1; }

std::vector<uint64_t> Classes::values(size_t number) const {
  std::vector<uint64_t> out(deciders_.size());
  for (size_t k = deciders_.size(); k-- > 0;) {
    out[k] = number % deciders_[k].values;
    number /= deciders_[k].values;
  }
  return out;
}

bool Classes::decide(TermId t) {
  if (!collect(t)) return false;
  for (const Decider& d : deciders_) {
    if (count_ > kMostValues / d.values) return false;
    count_ *= d.values;
  }
  return true;
}

bool Classes::collect(TermId t) {
  if (!seen_.insert(t).second) return rejected_.count(t) == 0;
  const bool fine =
      std::visit(Overloaded{
                     [](const PrimValue&) { return true; },
                     [](VarId) { return true; },
                     [](const TermNumber&) { return true; },
                     [](const TermRow&) { return false; },
                     [](const TermUnknown&) { return false; },
                     [&](const TermPrefix& x) { return collect_flag(x.flag); },
                     [&](const TermTotal& x) { return collect_flag(x.flag); },
                     [&, t](const TermPrim& x) { return collect_prim(t, TermPrim(x)); },
                 },
                 Term(terms_.at(t)));
  if (!fine) rejected_.insert(t);
  return fine;
}

bool Classes::collect_flag(TermId flag) {
  flags_.emplace(flag, std::vector<int64_t>());
  return collect(flag);
}

bool Classes::collect_prim(TermId t, const TermPrim& e) {
  if (const auto values = values_of(e); values != 0 && hangs_on_element(t)) {
    deciders_.push_back({t, values});
    return true;
  }
  const size_t before = deciders_.size();
  const auto seen = seen_;
  const bool fine = std::all_of(e.args.begin(), e.args.end(), [&](TermId a) { return collect(a); });
  if (fine || scalar_op_result(e.op, e.type, e.to) != PrimType::kBool) return fine;
  deciders_.resize(before);  // comparisons of whatever decide by themselves
  seen_ = seen;
  deciders_.push_back({t, 2});
  return true;
}

uint64_t Classes::values_of(const TermPrim& e) const {
  if (e.op != ScalarOp::kAnd || !is_integer(e.type)) return 0;
  for (const TermId a : e.args) {
    const auto* mask = std::get_if<PrimValue>(&terms_.at(a));
    if (mask == nullptr) continue;
    const auto bits = static_cast<uint64_t>(mask->as_i64());
    if (bits != 0 && bits < kMostValues && (bits & (bits + 1)) == 0) return bits + 1;
  }
  return 0;
}

bool Classes::hangs_on_element(TermId t) const {
  return std::visit(Overloaded{
                        [](const PrimValue&) { return false; },
                        [](VarId) { return false; },
                        [&](const TermPrim& e) {
                          return std::any_of(e.args.begin(), e.args.end(),
                                             [&](TermId a) { return hangs_on_element(a); });
                        },
                        [](const auto&) { return true; },
                    },
                    terms_.at(t));
}

void Classes::take(size_t number) {
  values_.clear();
  const std::vector<uint64_t> all = values(number);
  for (size_t k = 0; k < all.size(); ++k) values_[deciders_[k].term] = all[k];
  found_.clear();
}

bool Classes::evaluate_flags() {
  for (size_t v = 0; v < count_; ++v) {
    take(v);
    for (auto& [flag, values] : flags_) {
      const auto value = evaluate(flag);
      if (!value || !value->is_constant()) return false;
      if (value->constant != 0 && value->constant != 1) return false;
      values.push_back(value->constant);
    }
  }
  return true;
}

std::optional<Place> Classes::evaluate(TermId t) {
  const auto known = found_.find(t);
  if (known != found_.end()) return known->second;
  auto made = make(t);
  found_.emplace(t, made);
  return made;
}

std::optional<Place> Classes::make(TermId t) {
  Place p;
  if (const auto it = values_.find(t); it != values_.end()) {
    p.constant = static_cast<int64_t>(it->second);
    return p;
  }
  return std::visit(Overloaded{
                        [&](const PrimValue& v) -> std::optional<Place> {
                          if (is_float(v.type)) return {};
                          p.constant = is_integer(v.type) ? v.as_i64() : int64_t(v.bits != 0);
                          return p;
                        },
                        [&](VarId v) -> std::optional<Place> {
                          if (width_ != Atom(v)) return {};
                          p.width = 1;
                          return p;
                        },
                        [&](const TermNumber&) -> std::optional<Place> {
                          p.number = 1;
                          return p;
                        },
                        [&](const TermPrefix& x) -> std::optional<Place> {
                          p.prefixes[x.flag] = 1;
                          return p;
                        },
                        [&](const TermTotal& x) -> std::optional<Place> {
                          p.totals[x.flag] = 1;
                          return p;
                        },
                        [&](const TermPrim& e) { return make_prim(TermPrim(e)); },
                        [](const auto&) -> std::optional<Place> { return {}; },
                    },
                    Term(terms_.at(t)));
}

std::optional<Place> Classes::make_prim(const TermPrim& e) {
  if (e.op == ScalarOp::kSelect) {
    const auto cond = evaluate(e.args[0]);
    if (!cond || !cond->is_constant()) return {};
    return evaluate(e.args[cond->constant != 0 ? 1 : 2]);
  }
  std::vector<Place> args;
  for (const TermId a : e.args) {
    const auto value = evaluate(a);
    if (!value) return {};
    args.push_back(*value);
  }
  if (std::all_of(args.begin(), args.end(), [](const Place& p) { return p.is_constant(); })) {
    return fold(e, args);
  }
  const bool small =
      std::all_of(args.begin(), args.end(), [](const Place& p) { return p.is_small(); });
  if (!is_counted(e.type) || !small) return {};
  Place p;
  switch (e.op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
      p = args[0];
      p.add(args[1], e.op == ScalarOp::kAdd ? 1 : -1);
      return p;
    case ScalarOp::kMul:
      if (args[1].is_constant()) std::swap(args[0], args[1]);
      if (!args[0].is_constant() || std::abs(args[0].constant) > 8) return {};
      p.add(args[1], args[0].constant);
      return p;
    case ScalarOp::kConvert:
      if (!is_counted(e.to) || !is_number(args[0])) return {};
      return args[0];
    default: return {};
  }
}

Classes::Counts Classes::counted(const std::map<TermId, int64_t>& flags, int64_t each) const {
  Counts out(count_, each);
  for (const auto& [flag, times] : flags) {
    const auto& values = flags_.at(flag);
    for (size_t v = 0; v < count_; ++v) out[v] += times * values[v];
  }
  return out;
}

bool Classes::is_number(const Place& p) const {
  Counts up_to = counted(p.prefixes, p.number);
  const Counts all = counted(p.totals, p.width);
  for (size_t v = 0; v < count_; ++v) up_to[v] += all[v];
  return is_set(up_to) && is_set(all) && std::abs(p.constant - p.number) <= 1;
}

bool Classes::order(const std::vector<Place>& places) {
  const size_t n = places.size();
  std::vector<Counts> same, lower;
  for (const Place& p : places) {
    same.push_back(counted(p.prefixes, p.number));
    lower.push_back(counted(p.totals, p.width));
  }
  std::vector<int64_t> below;
  for (size_t v = 0; v < n; ++v) {
    if (!is_set(same[v]) || !is_set(lower[v]) || same[v][v] != 1) return false;
    below.push_back(std::count(lower[v].begin(), lower[v].end(), 1));
  }
  for (size_t v = 0; v < n; ++v) {
    for (size_t u = 0; u < n; ++u) {
      if ((same[v][u] == 1) != (below[u] == below[v])) return false;
      if ((lower[v][u] == 1) != (below[u] < below[v])) return false;
    }
  }
  const std::set<int64_t> steps(below.begin(), below.end());
  for (const int64_t b : below) {
    classes_.push_back(static_cast<int>(std::distance(steps.begin(), steps.find(b))));
  }
  return true;
}

}  // namespace kenaz::passes

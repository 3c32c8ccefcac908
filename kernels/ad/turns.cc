#include "kernels/ad/turns.h"

#include <algorithm>
#include <unordered_map>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

namespace {

/// The way from a param to the result that follows it, through sums.
class Way {
 public:
  explicit Way(VarId param) : param_(param) {}

  bool leads_to(const Body& b, const Atom& result) {
    if (result.is_const() || beside_.contains(result.var())) return false;
    if (!follow(b, result.var())) {
      beside_.insert(result.var());
      return false;
    }
    on_it_.insert(result.var());
    ++steps_;
    return true;
  }
  bool is_only_use(const Program& p, const Body& b) const {
    size_t uses = 0;
    for_each_use(p, b, [&](VarId v) { uses += on_it_.contains(v) ? 1 : 0; });
    return !parts_ && uses == steps_;
  }

 private:
  bool follow(const Body& b, VarId v) {
    if (v == param_) return true;
    for (const Stm& s : b.stms) {
      const auto at = std::find(s.pat.begin(), s.pat.end(), v);
      if (at == s.pat.end()) continue;
      if (const auto* e = std::get_if<EAtom>(&s.exp)) return leads_to(b, e->atom);
      if (const auto* e = std::get_if<EPrim>(&s.exp)) {
        if (e->op == ScalarOp::kSub) return leads_to(b, e->args[0]);
        return e->op == ScalarOp::kAdd && (leads_to(b, e->args[0]) || leads_to(b, e->args[1]));
      }
      const auto k = static_cast<size_t>(at - s.pat.begin());
      if (const auto* e = std::get_if<ELoop>(&s.exp)) return leads_to(b, e->params[k].init);
      const auto* e = std::get_if<EIf>(&s.exp);
      return e != nullptr && leads_through(*e, k);
    }
    return false;
  }

  bool leads_through(const EIf& e, size_t k) {
    const bool both[] = {leads_to(e.then_body, e.then_body.results[k]),
                         leads_to(e.else_body, e.else_body.results[k])};
    parts_ = parts_ || both[0] != both[1];
    return both[0] && both[1];
  }

  VarId param_;
  VarSet on_it_, beside_;
  size_t steps_ = 0;
  bool parts_ = false;  // some branch uses the param, and the other does not
};

class Turns {
 public:
  Turns(const Program& p, const Activity& activity) : p_(p), activity_(activity), counters_(p) {}

  bool loop(const ELoop& e) {
    const auto* form = std::get_if<LoopFor>(&e.form);
    if (form == nullptr) return false;
    counters_.enter_map();
    counters_.bind(form->index);
    for (const auto& param : e.params) counters_.bind(param.var);
    const bool holds = are_sums(e) && turns(*form, e.body);
    counters_.leave_map();
    return holds;
  }
  bool has_few_reads() const {
    return std::all_of(reads_.begin(), reads_.end(),
                       [](const auto& r) { return r.second <= kMaxParts; });
  }
  /// Whether it reads more than tables so small that a turn's pairs of index and value take more.
  bool reads_large_arrays() const {
    return std::any_of(reads_.begin(), reads_.end(),
                       [&](const auto& r) { return !is_small(p_.type_of(r.first)); });
  }

 private:
  static bool is_small(const Type& t) {
    constexpr int64_t kFew = 32;
    int64_t elements = 1;
    for (const Atom& d : t.dims) {
      if (!d.is_const() || d.constant().as_i64() > kFew) return false;
      elements *= d.constant().as_i64();
    }
    return elements <= kFew;
  }

  bool are_sums(const ELoop& e) const {
    for (size_t k = 0; k < e.params.size(); ++k) {
      if (!activity_.has(e.params[k].var)) continue;
      Way way(e.params[k].var);
      if (!p_.type_of(e.params[k].var).is_scalar() || !way.leads_to(e.body, e.body.results[k]) ||
          !way.is_only_use(p_, e.body)) {
        return false;
      }
    }
    return true;
  }

  bool turns(const LoopFor& form, const Body& of) {
    if (p_.type_of(form.index).prim == PrimType::kI64) counters_.below(form.index, form.bound);
    return body(of);
  }

  bool body(const Body& b) {
    counters_.note(b);
    return std::all_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) { return stm(s); });
  }

  bool stm(const Stm& s) {
    bool varied = false, scalars = true;
    for (const VarId v : s.pat) {
      varied = varied || activity_.has(v);
      scalars = scalars && (!activity_.has(v) || p_.type_of(v).is_scalar());
    }
    if (!varied) return true;
    if (!scalars) return false;
    if (const auto* e = std::get_if<EIndex>(&s.exp)) ++reads_[e->array];
    if (const auto* e = std::get_if<EIf>(&s.exp)) return body(e->then_body) && body(e->else_body);
    if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      const auto* form = std::get_if<LoopFor>(&e->form);
      if (form == nullptr) return false;
      return counters_.is_outside_of_all_maps(counters_.at_most(form->bound)) && loop(*e);
    }
    return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
           std::holds_alternative<EAtom>(s.exp);
  }

  const Program& p_;
  const Activity& activity_;
  Counters counters_;                        // where the loops are maps
  std::unordered_map<VarId, size_t> reads_;  // of arrays that vary
};

}  // namespace

bool has_independent_turns(const Program& p, const Activity& activity, const ELoop& e) {
  Turns turns(p, activity);
  return turns.loop(e) && turns.has_few_reads() && turns.reads_large_arrays();
}

}  // namespace kenaz::ad

// Dead code: a backward walk over each body with the set of variables that are still needed.
#include <algorithm>

#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/passes.h"
#include "protocol/base/overloaded.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class DeadCode {
 public:
  explicit DeadCode(Program& p) : p_(p) {}

  /// Whatever is needed after the body is in `live`; on return also what the body needs.
  void body(Body& b) {
    for (const Atom& r : b.results) need(r);
    std::vector<Stm> kept;
    for (size_t i = b.stms.size(); i-- > 0;) {
      Stm& s = b.stms[i];
      // Checks that every call makes stay even if nothing needs them: they may be all that a
      // program says about its arguments.
      const bool is_kept = depth_ == 0 && std::holds_alternative<EAssert>(s.exp);
      if (!is_kept &&
          !std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return live_.contains(v); })) {
        continue;
      }
      if (auto* soac = std::get_if<ESoac>(&s.exp)) trim(*soac, s);
      if (auto* seg = std::get_if<ESeg>(&s.exp)) trim(*seg, s);
      if (auto* scatter = std::get_if<EScatter>(&s.exp)) trim(*scatter, s);
      if (auto* hist = std::get_if<EHist>(&s.exp)) trim(*hist, s);
      if (auto* pack = std::get_if<EPack>(&s.exp)) trim_moved(pack->map, s);
      if (auto* sort = std::get_if<ESort>(&s.exp)) trim_moved(sort->map, s);
      trim_branches(s);
      if (auto* loop = std::get_if<ELoop>(&s.exp)) trim(*loop, s);
      depth_++;
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      depth_--;
      if (auto* soac = std::get_if<ESoac>(&s.exp)) drop_inputs(soac->inputs, soac->map);
      if (auto* e = std::get_if<EScatter>(&s.exp)) drop_inputs(e->inputs, e->map);
      if (auto* e = std::get_if<EHist>(&s.exp)) drop_inputs(e->inputs, e->map);
      if (auto* e = std::get_if<EPack>(&s.exp)) drop_inputs(e->inputs, e->map);
      if (auto* e = std::get_if<ESort>(&s.exp)) drop_inputs(e->inputs, e->map);
      for_each_use(p_, s, [&](VarId v) { live_.insert(v); });
      kept.push_back(std::move(s));
    }
    std::reverse(kept.begin(), kept.end());
    b.stms = std::move(kept);
  }

  void function(Function& f) {
    for (const Type& t : f.ret) need_type(t);
    for (const VarId v : f.params) need_type(p_.type_of(v));
    body(f.body);
  }

  /// After the functions: what they use is live. It is a result even if lowering did not list it,
  /// for a pass may have put one constant in another's place. The user's constants stay, used or
  /// not, because computing them may fail: lowering has listed them.
  void constants(Body& b) {
    VarSet listed;
    for (const Atom& r : b.results) {
      if (!r.is_const()) listed.insert(r.var());
    }
    for (const Stm& s : b.stms) {
      for (const VarId v : s.pat) {
        if (live_.contains(v) && !listed.contains(v)) b.results.push_back(v);
      }
    }
    body(b);
  }

 private:
  void need(const Atom& a) {
    if (!a.is_const()) live_.insert(a.var());
  }
  void need_type(const Type& t) {
    for (const Atom& d : t.dims) need(d);
  }

  /// Which values of the operator are needed, given those that are needed of its result: those that
  /// others are made of, too.
  std::vector<char> needed_values(const Monoid& m, std::vector<char> keep) const {
    const size_t n = keep.size();
    for (bool changed = true; changed;) {
      changed = false;
      VarSet needed;
      for (size_t k = 0; k < n; k++) {
        const Atom& r = m.op.body.results[k];
        if (keep[k] && !r.is_const()) needed.insert(r.var());
      }
      for_each_needed(p_, m.op.body.stms, needed, [](const Stm&) {});
      for (size_t k = 0; k < n; k++) {
        if (keep[k] || !(needed.contains(m.op.params[k]) || needed.contains(m.op.params[n + k]))) {
          continue;
        }
        keep[k] = 1;
        changed = true;
      }
    }
    return keep;
  }

  /// Plain results that nobody needs, and values of reductions and scans, of which not even the
  /// operator makes any that is needed.
  void trim(ESoac& e, Stm& s) {
    std::vector<char> keep(s.pat.size(), 1);
    size_t at = 0;
    const auto trim_monoids = [&](std::vector<Monoid>& monoids) {
      std::vector<Monoid> kept;
      for (Monoid& m : monoids) {
        const size_t n = m.neutral.size();
        std::vector<char> needed;
        for (size_t k = 0; k < n; k++) needed.push_back(live_.contains(s.pat[at + k]));
        needed = needed_values(m, std::move(needed));
        std::copy(needed.begin(), needed.end(), keep.begin() + static_cast<ptrdiff_t>(at));
        at += n;
        if (std::find(needed.begin(), needed.end(), 1) == needed.end()) continue;
        select(m.neutral, needed);
        select(m.op.body.results, needed);
        select(m.op.ret, needed);
        const std::vector<char> once = needed;
        needed.insert(needed.end(), once.begin(), once.end());
        select(m.op.params, needed);
        kept.push_back(std::move(m));
      }
      monoids = std::move(kept);
    };
    trim_monoids(e.scans);
    trim_monoids(e.reduces);
    for (; at < s.pat.size(); at++) keep[at] = live_.contains(s.pat[at]);
    select(s.pat, keep);
    select(e.map.body.results, keep);
    select(e.map.ret, keep);
  }

  /// Arrays that are written and not needed, with their indices and values.
  void trim(EScatter& e, Stm& s) {
    std::vector<char> keep_bound, keep_indices;
    for (size_t k = 0; k < e.dests.size(); k++) {
      const bool needed = live_.contains(s.pat[k]);
      keep_bound.push_back(needed);
      keep_indices.insert(keep_indices.end(), static_cast<size_t>(e.dests[k].index_rank), needed);
    }
    select(e.dests, keep_bound);
    trim_written(e.map, s, keep_indices, keep_bound);
  }

  /// Operators none of whose arrays is needed.
  void trim(EHist& e, Stm& s) {
    std::vector<char> keep_ops, keep_bound, keep_indices;
    for (const EHist::Op& op : e.ops) {
      const auto from = s.pat.begin() + static_cast<ptrdiff_t>(keep_bound.size());
      const auto to = from + static_cast<ptrdiff_t>(op.dests.size());
      const bool needed = std::any_of(from, to, [&](VarId v) { return live_.contains(v); });
      keep_ops.push_back(needed);
      keep_bound.insert(keep_bound.end(), op.dests.size(), needed);
      keep_indices.insert(keep_indices.end(), static_cast<size_t>(op.index_rank), needed);
    }
    select(e.ops, keep_ops);
    trim_written(e.map, s, keep_indices, keep_bound);
  }

  /// Packed or sorted values that nobody needs. The counts and keys stay.
  void trim_moved(Lambda& map, Stm& s) {
    const std::vector<char> keep = needed_besides_first(s);
    select(s.pat, keep);
    select(map.body.results, keep);
    select(map.ret, keep);
  }
  std::vector<char> needed_besides_first(const Stm& s) const {
    std::vector<char> keep;
    for (const VarId v : s.pat) keep.push_back(keep.empty() || live_.contains(v));
    return keep;
  }

  /// `map` returns all indices, then one value for each array that the statement binds.
  static void trim_written(Lambda& map, Stm& s, std::vector<char> keep_indices,
                           const std::vector<char>& keep_bound) {
    select(s.pat, keep_bound);
    std::vector<char> keep_results = std::move(keep_indices);
    keep_results.insert(keep_results.end(), keep_bound.begin(), keep_bound.end());
    select(map.body.results, keep_results);
    select(map.ret, keep_results);
  }

  /// Monoids and writes none of whose values is needed, plain results that nobody needs.
  void trim(ESeg& e, Stm& s) {
    if (is_single(e)) return;  // see trim_branches
    if (e.kind == SegKind::kPack || e.kind == SegKind::kSort) {
      const std::vector<char> keep = needed_besides_first(s);
      select(s.pat, keep);
      select(e.body.results, keep);
      return;
    }
    std::vector<char> keep_bound, keep_results;
    const auto decide = [&](size_t values, size_t indices) {
      bool needed = false;
      for (size_t k = 0; k < values; k++) {
        needed = needed || live_.contains(s.pat[keep_bound.size() + k]);
      }
      keep_bound.insert(keep_bound.end(), values, needed);
      keep_results.insert(keep_results.end(), indices + values, needed);
      return !needed;
    };
    std::erase_if(e.monoids, [&](const SegMonoid& m) { return decide(m.op.neutral.size(), 0); });
    std::erase_if(e.writes, [&](const SegWrite& w) {
      return decide(w.dests.size(), static_cast<size_t>(w.index_rank));
    });
    while (keep_bound.size() < s.pat.size()) decide(1, 0);
    select(s.pat, keep_bound);
    select(e.body.results, keep_results);
    if (e.monoids.empty()) e.kind = SegKind::kMap;
  }

  /// Results of branches that nobody needs. A size that a kept result's type mentions is needed.
  void trim_branches(Stm& s) {
    std::vector<char> keep;
    for (const VarId v : s.pat) {
      if (live_.contains(v)) need_type(p_.type_of(v));
    }
    for (const VarId v : s.pat) keep.push_back(live_.contains(v));
    bool has_branches = false;
    visit_branches(s.exp, [&](Body& b) {
      select(b.results, keep);
      has_branches = true;
    });
    if (has_branches) select(s.pat, keep);
  }

  /// Params of which neither the results nor later iterations of needed params make use.
  void trim(ELoop& e, Stm& s) {
    VarSet needed;
    std::vector<char> keep(s.pat.size(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < keep.size(); k++) {
        const auto& param = e.params[k];
        const auto* w = std::get_if<LoopWhile>(&e.form);
        if (keep[k] || (!live_.contains(s.pat[k]) && !needed.contains(param.var) &&
                        !(w && w->cond == param.var))) {
          continue;
        }
        keep[k] = 1;
        changed = true;
        const auto need_here = [&](VarId v) { needed.insert(v); };
        if (!e.body.results[k].is_const()) need_here(e.body.results[k].var());
        uses_detail::type_uses(p_.type_of(param.var), need_here);
        uses_detail::type_uses(p_.type_of(s.pat[k]), [&](VarId v) { live_.insert(v); });
        for (size_t i = e.body.stms.size(); i-- > 0;) {
          const Stm& inner = e.body.stms[i];
          if (std::any_of(inner.pat.begin(), inner.pat.end(),
                          [&](VarId v) { return needed.contains(v); })) {
            for_each_use(p_, inner, need_here);
          }
        }
      }
    }
    select(s.pat, keep);
    select(e.params, keep);
    select(e.body.results, keep);
  }

  /// Inputs whose rows the lambda does not look at.
  void drop_inputs(std::vector<VarId>& inputs, Lambda& map) {
    const auto used = free_vars(p_, map.body);
    std::vector<char> keep;
    for (const VarId v : map.params) keep.push_back(used.contains(v));
    select(map.params, keep);
    select(inputs, keep);
  }

  template <class T>
  static void select(std::vector<T>& list, const std::vector<char>& keep) {
    std::vector<T> kept;
    for (size_t i = 0; i < list.size(); i++) {
      if (keep[i]) kept.push_back(std::move(list[i]));
    }
    list = std::move(kept);
  }

  Program& p_;
  VarSet live_;
  int depth_ = 0;  // of bodies around
};

}  // namespace

void remove_dead_code(Program& p) {
  DeadCode pass(p);
  for (Function& f : p.functions) pass.function(f);
  pass.constants(p.constants);
}

}  // namespace kenaz::passes

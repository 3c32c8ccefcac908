#include "kernels/ir/analysis/uneven.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "kernels/ir/analysis/uses.h"

namespace kenaz::ir {

namespace {

/// Makes what can be had again without memory or checks.
bool is_view(const Program& p, const Stm& s) {
  if (const auto* e = std::get_if<EReplicate>(&s.exp)) return p.type_of(e->value).is_scalar();
  return std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
         std::holds_alternative<ERearrange>(s.exp) || std::holds_alternative<EIota>(s.exp);
}

class Cut {
 public:
  Cut(const Program& p, const ESeg& e, const std::function<bool(const Stm&)>& stays)
      : p_(p), e_(e) {
    for (const SegDim& d : e.space.dims) indices_.insert(d.index);
    for (size_t n = 0; n < e.body.stms.size(); n++) {
      for (const VarId v : e.body.stms[n].pat) made_by_[v] = n;
    }
    for (size_t n = 0; n < e.body.stms.size(); n++) {
      const Stm& s = e.body.stms[n];
      if (!stays(s) && is_uneven_reduction(s)) cuts_.push_back(n);
    }
  }

  std::optional<Uneven> run() {
    if (cuts_.empty()) return {};
    Uneven out;
    for (size_t k = 0; k < cuts_.size(); k++) out.stages.push_back(stage(k));
    out.leave.stms = with_views(cuts_.size());
    out.leave.results = e_.body.results;
    if (failed_) return {};
    return out;
  }

 private:
  /// What a part of the body needs of parts before it.
  struct Needs {
    std::set<VarId> scalars;  // made there, or indices
    std::set<size_t> views;   // statements
  };

  bool varies(VarId v) const { return indices_.contains(v) || made_by_.contains(v); }

  bool is_uneven_reduction(const Stm& s) const {
    const auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !e->scans.empty() || e->reduces.empty()) return false;
    if (e->width.is_const() || !varies(e->width.var())) return false;
    size_t operands = 0;
    for (const Monoid& m : e->reduces) {
      operands += m.neutral.size();
      for (const Atom& n : m.neutral) {
        if (!p_.type_of(n).is_scalar() || (!n.is_const() && varies(n.var()))) return false;
      }
      for (const VarId v : free_vars(p_, m.op)) {
        if (varies(v)) return false;
      }
    }
    return s.pat.size() == operands;
  }

  /// How many reductions it stands behind: a reduction ends a part.
  size_t part_of(size_t statement) const {
    const auto behind = std::lower_bound(cuts_.begin(), cuts_.end(), statement);
    return static_cast<size_t>(behind - cuts_.begin());
  }

  /// Adds what part `n` needs to have `v`.
  void need(VarId v, size_t n, Needs& needs) {
    if (indices_.contains(v)) {
      needs.scalars.insert(v);
      return;
    }
    const auto it = made_by_.find(v);
    if (it == made_by_.end()) return;
    const size_t at = it->second;
    const Stm& s = e_.body.stms[at];
    if (part_of(at) >= n) return;
    // Threads whose checks fail have stopped.
    if (std::holds_alternative<EAssert>(s.exp)) return;
    if (p_.type_of(v).is_scalar()) {
      needs.scalars.insert(v);
    } else if (!is_view(p_, s)) {
      failed_ = true;
    } else if (needs.views.insert(at).second) {
      need_all(s, n, needs);
    }
  }
  void need_all(const Stm& s, size_t n, Needs& needs) {
    for (const VarId v : free_vars(p_, s)) need(v, n, needs);
  }

  /// Adds what a part needs of parts before the `n`-th.
  void need_for_part(size_t part, size_t n, Needs& needs) {
    for (const Stm& s : statements(part)) need_all(s, n, needs);
    const auto need_atom = [&](const Atom& a) {
      if (!a.is_const()) need(a.var(), n, needs);
    };
    if (part < cuts_.size()) {
      need_atom(reduction(part).width);
    } else {
      for (const Atom& r : e_.body.results) need_atom(r);
    }
  }
  /// .. and what the elements of a reduction need.
  void need_for_elements(size_t cut, size_t n, Needs& needs) {
    for (const VarId v : reduction(cut).inputs) need(v, n, needs);
    for (const VarId v : free_vars(p_, reduction(cut).map)) need(v, n, needs);
  }

  const ESoac& reduction(size_t cut) const { return std::get<ESoac>(e_.body.stms[cuts_[cut]].exp); }
  std::span<const Stm> statements(size_t part) const {
    const size_t from = part == 0 ? 0 : cuts_[part - 1] + 1;
    const size_t to = part == cuts_.size() ? e_.body.stms.size() : cuts_[part];
    return {e_.body.stms.data() + from, to - from};
  }

  std::vector<Stm> with_views(size_t part) {
    Needs needs;
    need_for_part(part, part, needs);
    std::vector<Stm> stms = views(needs);
    const auto own = statements(part);
    stms.insert(stms.end(), own.begin(), own.end());
    return stms;
  }
  std::vector<Stm> views(const Needs& needs) const {
    std::vector<Stm> stms;
    for (const size_t v : needs.views) stms.push_back(e_.body.stms[v]);
    return stms;
  }

  Uneven::Stage stage(size_t k) {
    Uneven::Stage out;
    const Stm& s = e_.body.stms[cuts_[k]];
    out.reduction = &s;
    Needs elements, behind;
    need_for_elements(k, k + 1, elements);
    need_for_part(k + 1, k + 1, behind);
    for (size_t n = k + 1; n < cuts_.size(); n++) {
      need_for_elements(n, k + 1, behind);
      need_for_part(n + 1, k + 1, behind);
    }
    out.views = views(elements);
    out.shared.assign(elements.scalars.begin(), elements.scalars.end());
    const std::set<VarId> results(s.pat.begin(), s.pat.end());
    for (const VarId v : behind.scalars) {
      const bool known = elements.scalars.contains(v) || results.contains(v);
      if (!known && !indices_.contains(v)) out.kept.push_back(v);
    }
    out.enter.stms = with_views(k);
    out.enter.results.push_back(reduction(k).width);
    for (const VarId v : out.shared) out.enter.results.emplace_back(v);
    for (const VarId v : out.kept) out.enter.results.emplace_back(v);
    return out;
  }

  const Program& p_;
  const ESeg& e_;
  std::set<VarId> indices_;
  std::map<VarId, size_t> made_by_;  // statement
  std::vector<size_t> cuts_;         // the reductions
  bool failed_ = false;
};

}  // namespace

std::vector<VarId> Uneven::known(size_t count) const {
  if (count == 0) return {};
  const Stage& s = stages[count - 1];
  std::vector<VarId> out = s.shared;
  out.insert(out.end(), s.kept.begin(), s.kept.end());
  out.insert(out.end(), s.reduction->pat.begin(), s.reduction->pat.end());
  return out;
}

std::optional<Uneven> uneven_of(const Program& p, const ESeg& e,
                                const std::function<bool(const Stm&)>& stays) {
  return Cut(p, e, stays).run();
}

}  // namespace kenaz::ir

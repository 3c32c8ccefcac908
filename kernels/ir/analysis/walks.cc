#include "kernels/ir/analysis/walks.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/numbers.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ir {

namespace {

/// Registers that may hold what a thread carries.
constexpr size_t kMostCarried = 40;
/// Larger bodies are not looked at: a walk has their statements twice.
constexpr size_t kMostStatements = 2000;

/// Which statement of a body binds a variable.
std::unordered_map<VarId, size_t> binders_of(const Body& b) {
  std::unordered_map<VarId, size_t> out;
  for (size_t n = 0; n < b.stms.size(); n++) {
    for (const VarId v : b.stms[n].pat) out[v] = n;
  }
  return out;
}

/// The statements of `b` that making `results` takes, in order. `checks`: those of checks, too.
Body slice(const Program& p, const Body& b, std::vector<Atom> results, bool checks = true) {
  const auto binders = binders_of(b);
  std::vector<bool> needed(b.stms.size());
  const auto need = [&](VarId v) {
    const auto it = binders.find(v);
    if (it == binders.end()) return;
    if (checks || !std::holds_alternative<EAssert>(b.stms[it->second].exp)) {
      needed[it->second] = true;
    }
  };
  for (const Atom& a : results) {
    if (!a.is_const()) need(a.var());
  }
  for (size_t n = b.stms.size(); n-- > 0;) {
    if (needed[n]) for_each_use(p, b.stms[n], need);
  }
  Body out;
  for (size_t n = 0; n < b.stms.size(); n++) {
    if (needed[n]) out.stms.push_back(b.stms[n]);
  }
  out.results = std::move(results);
  return out;
}

size_t loads(const Body& b) {
  return static_cast<size_t>(std::count_if(b.stms.begin(), b.stms.end(), [](const Stm& s) {
    return std::holds_alternative<EIndex>(s.exp);
  }));
}

/// A map seen along one of its dims.
class Along {
 public:
  Along(const Program& p, const ESeg& e, size_t dim) : p_(p), e_(e), binders_(binders_of(e.body)) {
    walk_.dim = dim;
    const VarId index = e.space.dims[dim].index;
    here_[index] = numbers_.fresh();
    next_[index] = numbers_.plus(here_[index], PrimType::kI64, 1);
    for (const Stm& s : e.body.stms) number(s);
  }

  /// Whether half of the loads are of what the point before has loaded.
  bool shares() {
    size_t shared = 0;
    for (const Stm& s : e_.body.stms) {
      if (std::holds_alternative<EIndex>(s.exp) && source_of(s.pat[0])) shared++;
    }
    return shared > 0 && 2 * shared >= loads(e_.body);
  }

  /// The walk and how many loads of a point it spares; none if it spares less than half of them.
  std::optional<std::pair<Walk, size_t>> walk() {
    std::vector<bool> needed(e_.body.stms.size());
    find_needed(needed);
    if (walk_.carried.size() > kMostCarried || (walk_.carried.empty() && windows_.empty())) {
      return std::nullopt;
    }
    for (size_t n = 0; n < needed.size(); n++) {
      if (!needed[n]) continue;
      if (const auto it = windows_.find(n); it != windows_.end()) {
        it->second.at = walk_.rest.stms.size();
        walk_.slides.push_back(it->second);
      }
      walk_.rest.stms.push_back(e_.body.stms[n]);
    }
    walk_.rest.results = e_.body.results;
    std::vector<Atom> first;
    for (const auto& c : walk_.carried) first.emplace_back(c.value);
    for (const auto& s : walk_.slides) {
      const auto& sums = walk_.rest.stms[s.at].pat;
      first.insert(first.end(), sums.begin(), sums.end());
    }
    walk_.start = slice(p_, e_.body, std::move(first));
    const bool simple = std::all_of(walk_.rest.stms.begin(), walk_.rest.stms.end(), [&](auto& s) {
      return !std::holds_alternative<ELoop>(s.exp) || windows_.contains(binders_.at(s.pat[0]));
    });
    constexpr size_t kLoadsOfWindow = 100;
    const size_t all = loads(e_.body), made = loads(walk_.rest);
    const size_t spared = all - std::min(all, made) + kLoadsOfWindow * walk_.slides.size();
    if (!simple || 2 * spared < all || spared == 0) return std::nullopt;
    return std::pair(std::move(walk_), spared);
  }

 private:
  void number(const Stm& s) {
    numbers_.bind(p_, s, here_);
    numbers_.bind(p_, s, next_);
    const VarId v = s.pat[0];
    bool reads = std::holds_alternative<EIndex>(s.exp);
    for_each_use(p_, s, [&](VarId used) { reads = reads || reads_.contains(used); });
    if (s.pat.size() == 1 && p_.type_of(v).is_scalar()) {
      made_.emplace(here_[v], v);
      if (reads) reads_.insert(v);
    }
    if (auto window = window_of(s)) windows_[binders_.at(v)] = std::move(*window);
  }

  bool is_same_everywhere(const Atom& a) { return numbers_.of(a, here_) == numbers_.of(a, next_); }

  /// Where the loop is a Slide.
  std::optional<Walk::Slide> window_of(const Stm& s) {
    const auto* loop = std::get_if<ELoop>(&s.exp);
    const auto* form = loop == nullptr ? nullptr : std::get_if<LoopFor>(&loop->form);
    if (form == nullptr || !is_plain(p_, loop->body)) return {};
    if (!form->bound.is_const() && here_.contains(form->bound.var())) return {};
    const auto inner = binders_of(loop->body);
    std::vector<Atom> added;
    VarSet params;
    for (size_t k = 0; k < loop->params.size(); k++) {
      const auto& param = loop->params[k];
      params.insert(param.var);
      const Atom& result = loop->body.results[k];
      if (!is_same_everywhere(param.init) || !is_integer(p_.type_of(param.var).prim)) return {};
      if (result.is_const() || !inner.contains(result.var())) return {};
      const auto* sum = std::get_if<EPrim>(&loop->body.stms[inner.at(result.var())].exp);
      if (sum == nullptr || sum->op != ScalarOp::kAdd) return {};
      const size_t self = sum->args[0] == Atom(param.var) ? 0 : 1;
      if (sum->args[self] != Atom(param.var)) return {};
      added.push_back(sum->args[1 - self]);
    }
    Walk::Slide slide{0, slice(p_, loop->body, added, false), slice(p_, loop->body, added)};
    bool uses_sums = false;
    const auto look = [&](VarId v) { uses_sums = uses_sums || params.contains(v); };
    for_each_use(p_, slide.last, look);
    if (added.empty() || uses_sums || !slides(*form, slide.last)) return {};
    return slide;
  }

  /// Whether the next point's iteration adds what this point's next iteration does.
  bool slides(const LoopFor& form, const Body& added) {
    Numbers::Point turn = here_, step = next_;
    step[form.index] = numbers_.fresh();
    numbers_.has_successor(step[form.index]);  // of two iterations that there are
    turn[form.index] = numbers_.plus(step[form.index], p_.type_of(form.index).prim, 1);
    for (const Stm& s : added.stms) {
      numbers_.bind(p_, s, turn);
      numbers_.bind(p_, s, step);
    }
    return std::all_of(added.results.begin(), added.results.end(),
                       [&](const Atom& a) { return numbers_.of(a, turn) == numbers_.of(a, step); });
  }

  /// What at this point is what the variable is at the next one: a value worth carrying.
  std::optional<VarId> source_of(VarId v) {
    if (!reads_.contains(v) || here_[v] == next_[v]) return {};
    const auto it = made_.find(next_[v]);
    if (it == made_.end()) return {};
    return it->second;
  }

  /// Marks the statements of `rest`, and notes what is carried.
  void find_needed(std::vector<bool>& needed) {
    std::vector<VarId> due;
    VarSet seen;
    const auto need = [&](VarId v) {
      if (binders_.contains(v) && seen.insert(v).second) due.push_back(v);
    };
    for (const Atom& a : e_.body.results) {
      if (!a.is_const()) need(a.var());
    }
    while (!due.empty()) {
      const VarId v = due.back();
      due.pop_back();
      if (const auto from = source_of(v)) {
        walk_.carried.push_back({v, *from});
        need(*from);
        continue;
      }
      const size_t n = binders_.at(v);
      if (needed[n]) continue;
      needed[n] = true;
      for_each_use(p_, e_.body.stms[n], need);
    }
  }

  const Program& p_;
  const ESeg& e_;
  const std::unordered_map<VarId, size_t> binders_;
  Numbers numbers_;
  Numbers::Point here_, next_;
  std::unordered_map<Numbers::Id, VarId> made_;  // at this point
  VarSet reads_;                                 // values that elements of arrays go into
  std::unordered_map<size_t, Walk::Slide> windows_;
  Walk walk_;
};

}  // namespace

std::optional<Walk> walk_of(const Program& p, const ESeg& e) {
  const auto& dims = e.space.dims;
  if (e.kind != SegKind::kMap || !e.writes.empty() || dims.empty() ||
      e.body.stms.size() > kMostStatements) {
    return {};
  }
  const bool fits = std::all_of(e.body.stms.begin(), e.body.stms.end(), [&](const Stm& s) {
    if (std::holds_alternative<ELoop>(s.exp)) return binds_scalars(p, s);
    return is_plain(p, s);
  });
  if (!fits) return {};
  std::optional<std::pair<Walk, size_t>> best;
  for (size_t d = 0; d + 1 < dims.size(); d++) {
    auto found = Along(p, e, d).walk();
    if (found && (!best || found->second > best->second)) best = std::move(found);
  }
  if (!best) {
    best = Along(p, e, dims.size() - 1).walk();
    if (best && best->first.slides.empty()) return {};
  }
  if (!best) return {};
  best->first.neighbours_share = Along(p, e, dims.size() - 1).shares();
  return std::move(best->first);
}

}  // namespace kenaz::ir

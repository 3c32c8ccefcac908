// Hoisting: what a loop or lambda body computes again and again from things outside of it.
#include <algorithm>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Hoist {
 public:
  explicit Hoist(Program& p) : p_(p), aliases_(p) {
    find_consumed(p.constants);
    for (const Function& f : p.functions) find_consumed(f.body);
  }

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      if (auto* loop = std::get_if<ELoop>(&s.exp)) {
        out_of(s, loop->body, false, out);
      } else if (auto* soac = std::get_if<ESoac>(&s.exp)) {
        out_of(s, soac->map.body, true, out);
        for (Monoid& m : soac->scans) out_of(s, m.op.body, false, out);
        for (Monoid& m : soac->reduces) out_of(s, m.op.body, false, out);
      } else if (auto* scatter = std::get_if<EScatter>(&s.exp)) {
        out_of(s, scatter->map.body, true, out);
      } else if (auto* hist = std::get_if<EHist>(&s.exp)) {
        out_of(s, hist->map.body, true, out);
        for (EHist::Op& op : hist->ops) out_of(s, op.monoid.op.body, false, out);
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

 private:
  void find_consumed(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : consumed_by(p_, s)) consumed_.insert(aliases_.of(v));
      visit_bodies(s.exp, [&](const Body& inner) { find_consumed(inner); });
    }
  }

  /// Whether running the statement once more, or where it would not have run, does no harm. All
  /// certificates must stand outside as well, so what they guard stays guarded.
  bool is_movable(const Stm& s, bool from_map) const {
    if (!s.attrs.empty()) return false;
    if (std::holds_alternative<EPrim>(s.exp)) return true;
    if (std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
        std::holds_alternative<EArrayLit>(s.exp)) {
      // Made anew each time because it is changed in place?
      return !consumed_.contains(aliases_.of(s.pat[0]));
    }
    // A check that is the same for all elements is made once, even if there are none of them.
    return from_map && std::holds_alternative<EAssert>(s.exp);
  }

  void out_of(const Stm& around, Body& inner, bool from_map, std::vector<Stm>& out) {
    VarSet bound;
    visit_binders(around.exp, [&](VarId v) { bound.insert(v); });
    for (const Stm& s : inner.stms) bound.insert(s.pat.begin(), s.pat.end());
    std::vector<Stm> kept;
    for (Stm& s : inner.stms) {
      bool invariant = is_movable(s, from_map);
      if (invariant) {
        for_each_use(p_, s, [&](VarId v) { invariant = invariant && !bound.contains(v); });
      }
      if (!invariant) {
        kept.push_back(std::move(s));
        continue;
      }
      for (const VarId v : s.pat) bound.erase(v);
      out.push_back(std::move(s));
    }
    inner.stms = std::move(kept);
  }

  Program& p_;
  Aliases aliases_;
  std::unordered_set<uint32_t> consumed_;  // classes
};

}  // namespace

void hoist(Program& p) {
  Hoist pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
}

}  // namespace kenaz::passes

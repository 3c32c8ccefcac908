// Hoisting: what a loop or lambda body computes again and again from things outside of it.
//
// A body may run zero times, and then nothing in it may fail. So what moves out of it cannot fail,
// except for checks, which are guarded: a check that leaves a combinator over n elements (or a
// space with a dim of n points) becomes "n <= 0, or what it says". What a guarded check protects
// has then no protection if n <= 0, so of that only those operations follow that have a result for
// all operands. Reductions to scalars follow as well, where nothing in them can fail: `map (/ sum
// xs) xs` is not to sum for each element.
#include <algorithm>
#include <optional>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/guard_check.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Hoist {
 public:
  explicit Hoist(Program& p) : p_(p), aliases_(p) {
    for (const Function& f : p.functions) {
      for (const VarId v : f.params) {
        for (const Atom& d : p.type_of(v).dims) {
          if (!d.is_const()) sizes_.insert(d.var());
        }
      }
    }
    visit_bodies(p, [&](const Body& b) { find_consumed(b); });
  }

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      if (auto* loop = std::get_if<ELoop>(&s.exp)) {
        out_of(s, loop->body, nullptr, out);
      } else if (auto* seg = std::get_if<ESeg>(&s.exp)) {
        const std::vector<Atom> sizes = sizes_of(seg->space.dims);
        out_of(s, seg->body, &sizes, out);
        visit_lambdas(s.exp, [&](Lambda& l) { out_of(s, l.body, nullptr, out); });
      } else if (auto* soac = std::get_if<ESoac>(&s.exp)) {
        const std::vector<Atom> width = {soac->width};
        out_of(s, soac->map.body, &width, out);
        for (Monoid& m : soac->scans) out_of(s, m.op.body, nullptr, out);
        for (Monoid& m : soac->reduces) out_of(s, m.op.body, nullptr, out);
      } else if (auto* pack = std::get_if<EPack>(&s.exp)) {
        const std::vector<Atom> width = {pack->width};
        out_of(s, pack->map.body, &width, out);
      } else if (auto* sort = std::get_if<ESort>(&s.exp)) {
        const std::vector<Atom> width = {sort->width};
        out_of(s, sort->map.body, &width, out);
      } else if (auto* scatter = std::get_if<EScatter>(&s.exp)) {
        const std::vector<Atom> width = {scatter->width};
        out_of(s, scatter->map.body, &width, out);
      } else if (auto* hist = std::get_if<EHist>(&s.exp)) {
        const std::vector<Atom> width = {hist->width};
        out_of(s, hist->map.body, &width, out);
        for (EHist::Op& op : hist->ops) out_of(s, op.monoid.op.body, nullptr, out);
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

 private:
  /// Also the checks that an earlier run has guarded: those of an "or".
  void find_consumed(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : consumed_by(p_, s)) consumed_.insert(aliases_.of(v));
      const auto* prim = std::get_if<EPrim>(&s.exp);
      if (prim != nullptr && prim->op == ScalarOp::kOr) ors_.insert(s.pat[0]);
      if (prim != nullptr && is_size(*prim)) sizes_.insert(s.pat[0]);
      const auto* check = std::get_if<EAssert>(&s.exp);
      if (check != nullptr && !check->cond.is_const() && ors_.contains(check->cond.var())) {
        guarded_.insert(s.pat[0]);
      }
      note_unsure(s);
      visit_bodies(s.exp, [&](const Body& inner) { find_consumed(inner); });
    }
  }

  /// Whether it is not negative, whatever else.
  bool is_size(const Atom& a) const {
    if (!a.is_const()) return sizes_.contains(a.var());
    return is_integer(a.constant().type) && a.constant().as_i64() >= 0;
  }
  bool is_size(const EPrim& e) const {
    switch (e.op) {
      case ScalarOp::kSizeAdd:
      case ScalarOp::kSizeMul: return true;
      case ScalarOp::kMax: return is_size(e.args[0]) || is_size(e.args[1]);
      case ScalarOp::kMin: return is_size(e.args[0]) && is_size(e.args[1]);
      case ScalarOp::kDiv:
      case ScalarOp::kQuot: return is_size(e.args[0]) && e.args[1].is_const() && is_size(e.args[1]);
      default: return false;
    }
  }

  /// Whether the statement relies on a check that need not hold.
  bool is_unsure(const Stm& s) const {
    bool any = false;
    for_each_use(p_, s, [&](VarId v) { any = any || guarded_.contains(v) || unsure_.contains(v); });
    return any;
  }
  void note_unsure(const Stm& s) {
    if (!guarded_.empty() && is_unsure(s)) unsure_.insert(s.pat.begin(), s.pat.end());
  }

  /// Whether nothing in the body can fail, and it ends.
  static bool is_total(const Body& b) {
    return std::all_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
      const bool known = std::holds_alternative<EPrim>(s.exp) ||
                         std::holds_alternative<EAtom>(s.exp) ||
                         std::holds_alternative<EIf>(s.exp) || std::holds_alternative<ESoac>(s.exp);
      bool total = known && s.attrs.empty();
      if (total) visit_bodies(s.exp, [&](const Body& inner) { total = total && is_total(inner); });
      return total;
    });
  }
  /// Of arrays whose sizes are sure, to scalars.
  bool is_movable_reduction(const Stm& s, const ESoac& e) const {
    if (e.reduces.empty() || is_unsure(s) || !binds_scalars(p_, s)) return false;
    bool total = true;
    visit_bodies(s.exp, [&](const Body& inner) { total = total && is_total(inner); });
    return total;
  }

  /// Whether running the statement once more, or where it would not have run, does no harm. All
  /// certificates must stand outside as well, so what they guard stays guarded.
  bool is_movable(const Stm& s, const std::vector<Atom>* widths) const {
    if (!s.attrs.empty()) return false;
    if (std::holds_alternative<EPrim>(s.exp)) return true;
    if (std::holds_alternative<EAtom>(s.exp)) return p_.type_of(s.pat[0]).is_scalar();
    if (std::holds_alternative<EAssert>(s.exp)) return widths != nullptr;
    if (const auto* soac = std::get_if<ESoac>(&s.exp)) return is_movable_reduction(s, *soac);
    const auto* replicate = std::get_if<EReplicate>(&s.exp);
    if (!replicate && !std::holds_alternative<EIota>(s.exp) &&
        !std::holds_alternative<EArrayLit>(s.exp)) {
      return std::holds_alternative<ETune>(s.exp);
    }
    // A replicate of negative size is an error. That it is none may be known inside only: where a
    // loop of so many turns has one.
    if (replicate) {
      const auto of_width = [&](const Atom& d) {
        return widths != nullptr && std::find(widths->begin(), widths->end(), d) != widths->end();
      };
      const bool sure = std::all_of(replicate->dims.begin(), replicate->dims.end(),
                                    [&](const Atom& d) { return is_size(d) || of_width(d); });
      const bool guarded = std::any_of(s.certs.begin(), s.certs.end(),
                                       [&](VarId v) { return guarded_.contains(v); });
      if (guarded || (s.certs.empty() && !sure)) return false;
    }
    // Made anew each time because it is changed in place?
    return !consumed_.contains(aliases_.of(s.pat[0]));
  }

  /// Moves what does not depend on `inner`'s binders to `out`. `widths`: of the combinator that
  /// runs `inner` for each of its elements; null if `inner` is run in another way, and then checks
  /// stay.
  void out_of(const Stm& around, Body& inner, const std::vector<Atom>* widths,
              std::vector<Stm>& out) {
    VarSet bound;
    visit_binders(around.exp, [&](VarId v) { bound.insert(v); });
    for (const Stm& s : inner.stms) bound.insert(s.pat.begin(), s.pat.end());
    std::vector<Stm> kept;
    Empty empty;
    for (Stm& s : inner.stms) {
      bool invariant = is_movable(s, widths);
      if (invariant) {
        for_each_use(p_, s, [&](VarId v) { invariant = invariant && !bound.contains(v); });
      }
      if (!invariant) {
        kept.push_back(std::move(s));
        continue;
      }
      for (const VarId v : s.pat) bound.erase(v);
      if (std::holds_alternative<EAssert>(s.exp)) {
        if (guard_check(p_, s, *widths, empty, out)) guarded_.insert(s.pat[0]);
      }
      note_unsure(s);
      out.push_back(std::move(s));
    }
    inner.stms = std::move(kept);
  }

  Program& p_;
  Aliases aliases_;
  std::unordered_set<uint32_t> consumed_;  // classes
  VarSet ors_;                             // results of "or"
  VarSet sizes_;                           // numbers that are not negative
  VarSet guarded_;                         // certificates of checks that need not hold
  VarSet unsure_;                          // what relies on them
};

}  // namespace

void hoist(Program& p) {
  Hoist pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::passes

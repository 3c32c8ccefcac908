#include "kernels/passes/loop_facts.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// An i64 of so much at most, or not below 0 if it becomes less, that changes by so much at most in
/// a turn: it takes months to wrap.
constexpr int64_t kMostAtFirst = int64_t{1} << 62, kSmallStep = 1024;
/// Parts of a condition that are looked at.
constexpr int kMostParts = 16;

class Facts {
 public:
  Facts(const Stm& s, const HoldsAtFirst& holds)
      : s_(s), loop_(std::get<ELoop>(s.exp)), holds_(holds) {
    for_each_bound(s, [&](VarId v) { inside_.insert(v); });
    note(loop_.body);
  }

  LoopFacts all() {
    if (const auto* form = std::get_if<LoopWhile>(&loop_.form)) {
      for (size_t k = 0; k < loop_.params.size(); k++) {
        if (loop_.params[k].var == form->cond) of_condition(loop_.body.results[k], kMostParts);
      }
    }
    for (size_t k = 0; k < loop_.params.size(); k++) of_steps(k);
    return std::move(facts_);
  }

 private:
  void note(const Body& b) {
    for (const Stm& s : b.stms) {
      for (size_t k = 0; k < s.pat.size(); k++) made_.emplace(s.pat[k], Made{&s.exp, k});
    }
  }

  /// By how much the parameter changes in each turn, if always by that.
  std::optional<int64_t> step(size_t k) const {
    const VarId param = loop_.params[k].var;
    const auto* e = prim(loop_.body.results[k]);
    if (e == nullptr || e->type != PrimType::kI64 || e->args.size() != 2) return std::nullopt;
    const bool adds = e->op == ScalarOp::kAdd;
    if (!adds && e->op != ScalarOp::kSub) return std::nullopt;
    const bool first = e->args[0] == Atom(param);
    if (!first && (!adds || e->args[1] != Atom(param))) return std::nullopt;
    const Atom& by = e->args[first ? 1 : 0];
    if (!by.is_const()) return std::nullopt;
    const int64_t n = by.constant().as_i64();
    if (n < -kSmallStep || n > kSmallStep) return std::nullopt;
    return adds ? n : -n;
  }

  void of_steps(size_t k) {
    const auto by = step(k);
    if (!by || *by == 0 || wraps(k, *by)) return;
    const auto from_first = [&](VarId v) {
      const Atom& first = loop_.params[k].init;
      return *by < 0 ? at_most(v, first) : at_most(first, v);
    };
    facts_.inside.push_back(from_first(loop_.params[k].var));
    facts_.behind.push_back(from_first(s_.pat[k]));
  }

  static EPrim at_most(const Atom& a, const Atom& b) {
    return {ScalarOp::kLe, PrimType::kI64, PrimType::kI32, {a, b}};
  }

  /// Whether the parameter may wrap for all that is known by now.
  bool wraps(size_t k, int64_t by) const {
    const Atom param = loop_.params[k].var, &first = loop_.params[k].init;
    const auto stops = [&](const EPrim& e) {
      if (by < 0) {
        return e.args[1] == param && e.args[0].is_const() &&
               e.args[0].constant().as_i64() >= -kMostAtFirst;
      }
      return by == 1 && e.op == ScalarOp::kLt && e.args[0] == param;
    };
    if (std::ranges::any_of(facts_.inside, stops)) return false;
    return !holds_(by < 0 ? at_most(i64(0), first) : at_most(first, i64(kMostAtFirst)), false);
  }

  /// A turn begins where the condition holds, of what the turn before has made or of what was
  /// there at first.
  void of_condition(const Atom& condition, int parts) {
    if (parts == 0 || condition.is_const()) return;
    const auto made = made_.find(condition.var());
    if (made == made_.end()) return;
    if (const auto* e = std::get_if<EIf>(made->second.exp)) {
      if (!e->else_body.results[made->second.place].is_bool(false)) return;
      note(e->then_body);
      of_condition(e->cond, parts - 1);
      return of_condition(e->then_body.results[made->second.place], parts - 1);
    }
    const auto* e = std::get_if<EPrim>(made->second.exp);
    if (e == nullptr) return;
    const bool both =
        e->op == ScalarOp::kAnd || (e->op == ScalarOp::kSelect && e->args[2].is_bool(false));
    if (both) {
      of_condition(e->args[0], parts / 2);
      of_condition(e->args[1], parts / 2);
    } else if (prim_kind(e->type) == PrimKind::kSigned &&
               (e->op == ScalarOp::kLt || e->op == ScalarOp::kLe)) {
      of_comparison(*e);
    }
  }

  void of_comparison(const EPrim& e) {
    EPrim inside = e, first = e;
    std::optional<size_t> param;
    for (size_t a = 0; a < e.args.size(); a++) {
      if (e.args[a].is_const() || !inside_.contains(e.args[a].var())) continue;
      const auto k = std::ranges::find(loop_.body.results, e.args[a]);
      if (k == loop_.body.results.end() || param) return;
      param = static_cast<size_t>(k - loop_.body.results.begin());
      inside.args[a] = loop_.params[*param].var;
      first.args[a] = loop_.params[*param].init;
    }
    if (!param || !holds_(first, true)) return;
    // A step further the bound is reached, no more.
    const auto by = step(*param);
    const int64_t towards = inside.args[0] == Atom(loop_.params[*param].var) ? 1 : -1;
    if (e.op == ScalarOp::kLt && by == towards) {
      first.op = ScalarOp::kLe;
      if (holds_(first, false)) {
        EPrim behind = first;
        behind.args[towards == 1 ? 0 : 1] = s_.pat[*param];
        facts_.behind.push_back(std::move(behind));
      }
    }
    facts_.inside.push_back(std::move(inside));
  }

  const EPrim* prim(const Atom& a) const {
    if (a.is_const()) return nullptr;
    const auto made = made_.find(a.var());
    return made == made_.end() ? nullptr : std::get_if<EPrim>(made->second.exp);
  }

  const Stm& s_;
  const ELoop& loop_;
  const HoldsAtFirst& holds_;
  struct Made {
    const Exp* exp;
    size_t place;  // in the statement's pattern
  };
  std::unordered_map<VarId, Made> made_;
  VarSet inside_;  // what is bound in the loop
  LoopFacts facts_;
};

}  // namespace

LoopFacts loop_facts(const Stm& s, const HoldsAtFirst& holds) { return Facts(s, holds).all(); }

}  // namespace kenaz::passes

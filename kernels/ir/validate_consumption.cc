// Consumption: every array variable stands for a set of roots (the arrays it may share memory
// with); consuming it kills its roots, and a variable with a dead root may not be used.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {
namespace {

using Roots = std::set<uint32_t>;  // VarIds of the variables that made the arrays

class Consumption {
 public:
  explicit Consumption(const Program& p) : p_(p) {}

  std::optional<ConsumptionError> run() {
    body(p_.constants);
    VarSet globals;
    for_each_bound(p_.constants, [&](VarId v) { globals.insert(v); });
    for (const Function& f : p_.functions) {
      if (f.name.empty()) continue;
      dead_.clear();
      borrowed_ = globals;
      for (size_t i = 0; i < f.params.size(); ++i) {
        roots_[f.params[i].index] = {f.params[i].index};
        if (i >= f.consumed.size() || !f.consumed[i]) borrowed_.insert(f.params[i]);
      }
      body(f.body);
    }
    return std::move(error_);
  }

 private:
  bool is_array(VarId v) const { return !p_.type_of(v).is_scalar(); }
  Roots roots_of(const Atom& a) const { return a.is_const() ? Roots{} : roots_of(a.var()); }
  Roots roots_of(VarId v) const {
    if (!is_array(v)) return {};
    const auto it = roots_.find(v.index);
    return it == roots_.end() ? Roots{v.index} : it->second;
  }
  void use(const Atom& a, const Stm* s) {
    if (!a.is_const()) use(a.var(), s);
  }
  void use(VarId v, const Stm* s) {
    if (error_ || dead_.empty()) return;
    for (uint32_t r : roots_of(v)) {
      if (!dead_.contains(r)) continue;
      return fail(r, fmt::format("{} is used after it was consumed", name(v)), s);
    }
  }
  std::string name(VarId v) const { return print_atom(p_, v); }
  void fail(uint32_t root, const std::string& what, const Stm* s) {
    if (error_) return;
    error_.emplace();
    if (const auto it = killers_.find(root); it != killers_.end()) {
      error_->consumer = it->second.first;
      error_->consumed = it->second.second;
    }
    error_->message = "invalid array IR: " + what;
    if (s != nullptr) error_->message += "\n  " + print_stm(p_, *s).substr(0, 2000);
  }

  /// What the statement consumes is dead from now on. Nothing else in the statement may be the
  /// same memory.
  void consume(const Stm& s) {
    const auto consumed = consumed_by(p_, s);
    if (consumed.empty()) return;
    Roots own;
    for (VarId v : consumed) {
      for (uint32_t r : roots_of(v)) {
        killers_[r] = {&s, v};
        if (borrowed_.contains(VarId{r})) {
          fail(r, fmt::format("{} is consumed but only lent", name(VarId{r})), &s);
        }
        if (!own.insert(r).second) fail(r, fmt::format("{} is consumed twice", name(v)), &s);
      }
    }
    std::vector<VarId> left = consumed;
    visit_operands(s.exp, [&](const auto& a) {
      const Atom atom = a;
      if (atom.is_const() || !is_array(atom.var())) return;
      const auto it = std::find(left.begin(), left.end(), atom.var());
      if (it != left.end()) {
        left.erase(it);
        return;
      }
      for (uint32_t r : roots_of(atom)) {
        if (own.contains(r)) {
          fail(r, fmt::format("{} is used by what consumes it", name(atom.var())), &s);
        }
      }
    });
    dead_.merge(own);
  }

  void body(const Body& b) {
    for (const Stm& s : b.stms) {
      if (error_) return;
      stm(s);
    }
    for (const Atom& a : b.results) use(a, nullptr);
  }

  void stm(const Stm& s) {
    visit_operands(s.exp, [&](const auto& a) { use(a, &s); });
    for (VarId v : s.pat) roots_[v.index] = {v.index};
    if (const auto* l = std::get_if<ELoop>(&s.exp)) return loop(s, *l);
    if (has_branches(s.exp)) return branches(s);
    visit_binders(s.exp, [&](VarId v) { roots_[v.index] = {v.index}; });
    if (const auto* seg = std::get_if<ESeg>(&s.exp)) keep_dests(s, *seg);
    visit_bodies(s.exp, [&](const Body& b) {
      const Roots before = dead_;
      body(b);
      if (dead_.size() != before.size()) check_lambda(b, before);
      dead_ = before;
    });
    if (const auto* a = std::get_if<EAtom>(&s.exp)) alias(s.pat[0], roots_of(a->atom));
    if (const auto* a = std::get_if<EIndex>(&s.exp)) alias(s.pat[0], roots_of(a->array));
    if (const auto* a = std::get_if<ERearrange>(&s.exp)) alias(s.pat[0], roots_of(a->array));
    if (const auto* a = std::get_if<EReshape>(&s.exp)) alias(s.pat[0], roots_of(a->array));
    consume(s);
  }
  /// Lambdas consume only what they bind.
  void check_lambda(const Body& b, const Roots& before) {
    VarSet bound;
    for_each_bound(b, [&](VarId v) { bound.insert(v); });
    for (uint32_t d : dead_) {
      if (before.contains(d) || bound.contains(VarId{d})) continue;
      fail(d, fmt::format("a lambda consumes {}, which it did not make", name(VarId{d})), nullptr);
    }
  }
  void alias(VarId v, Roots r) {
    if (is_array(v)) roots_[v.index] = std::move(r);
  }

  /// What an ESeg writes to is not read by its body and operators.
  void keep_dests(const Stm& s, const ESeg& e) {
    Roots written;
    for (const auto& w : e.writes) {
      for (VarId d : w.dests) written.merge(roots_of(d));
    }
    if (written.empty()) return;
    visit_bodies(s.exp, [&](const Body& b) {
      for (VarId v : free_vars(p_, b)) {
        for (uint32_t r : roots_of(v)) {
          if (written.contains(r)) {
            fail(r, fmt::format("{} is read where it is written", name(v)), &s);
          }
        }
      }
    });
  }

  static bool has_branches(const Exp& e) {
    bool any = false;
    visit_branches(e, [&](const Body&) { any = true; });
    return any;
  }
  void branches(const Stm& s) {
    const Roots before = dead_;
    Roots after = before;
    visit_branches(s.exp, [&](const Body& b) {
      dead_ = before;
      body(b);
      after.merge(dead_);
    });
    dead_ = std::move(after);
    std::vector<Roots> out(s.pat.size());
    visit_branches(s.exp, [&](const Body& b) {
      for (size_t k = 0; k < out.size(); ++k) out[k].merge(roots_of(b.results[k]));
    });
    for (size_t k = 0; k < s.pat.size(); ++k) {
      for (uint32_t d : dead_) out[k].erase(d);  // dead in another branch only
      out[k].insert(s.pat[k].index);
      alias(s.pat[k], std::move(out[k]));
    }
  }

  void loop(const Stm& s, const ELoop& e) {
    for (const auto& q : e.params) roots_[q.var.index] = {q.var.index};
    const Roots around = dead_;
    // From the second turn on what the first one was given is gone: it lives on in the params only.
    for (const VarId v : consumed_by(p_, s)) {
      for (const uint32_t r : roots_of(v)) {
        killers_[r] = {&s, v};
        dead_.insert(r);
      }
    }
    const Roots before = dead_;
    body(e.body);
    for (uint32_t d : dead_) {
      bool fine = before.contains(d);
      for_each_bound(s, [&](VarId v) { fine = fine || v.index == d; });
      if (!fine) {
        fail(d, fmt::format("a loop consumes {}, which is not its param", name(VarId{d})), nullptr);
      }
    }
    // What a result may share: outer arrays that flow into params, if the body passes them on.
    std::vector<Roots> out(e.params.size());
    for (size_t k = 0; k < out.size(); ++k) out[k] = roots_of(e.params[k].init);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < out.size(); ++k) {
        Roots next = out[k];
        for (uint32_t r : roots_of(e.body.results[k])) {
          bool param = false;
          for (size_t j = 0; j < out.size(); ++j) {
            if (e.params[j].var.index != r) continue;
            param = true;
            next.insert(out[j].begin(), out[j].end());
          }
          if (!param) next.insert(r);
        }
        changed = changed || next.size() != out[k].size();
        out[k] = std::move(next);
      }
    }
    dead_ = around;
    consume(s);
    for (size_t k = 0; k < s.pat.size(); ++k) {
      for (uint32_t d : dead_) out[k].erase(d);
      out[k].insert(s.pat[k].index);
      alias(s.pat[k], std::move(out[k]));
    }
  }

  const Program& p_;
  std::unordered_map<uint32_t, Roots> roots_;
  Roots dead_;
  VarSet borrowed_;
  std::unordered_map<uint32_t, std::pair<const Stm*, VarId>> killers_;  // by root
  std::optional<ConsumptionError> error_;
};

}  // namespace

std::optional<ConsumptionError> find_consumption_error(const Program& p) {
  return Consumption(p).run();
}

Status validate_consumption(const Program& p) {
  if (const auto error = find_consumption_error(p)) return internal_error(error->message);
  return {};
}

}  // namespace kenaz::ir

// An expression that has existential sizes (`Exp::ext`) makes them: they are known in what is
// evaluated after it. Arguments are evaluated before the function that they are applied to, the
// last one first, the operands of an operator from left to right, a let's value before its body.
// Whatever takes its sizes from its type alone (a use of a polymorphic function, an empty array, a
// hole, a constructor, the parameters of a lambda) needs them there and then.
#include "kernels/futhark/sizes/causality.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kernels/futhark/core/children.h"

namespace kenaz::sizes {

namespace {

using core::Exp;
using core::ExpPtr;
using core::VarId;

class Causality {
 public:
  Causality(const core::Names& names, const IsUnknown& is_unknown)
      : names_(names), is_unknown_(is_unknown) {}

  std::optional<Diagnostic> check(const core::Def& def) {
    if (!def.body) return std::nullopt;
    find_origins(*def.body);
    if (!origins_.empty()) visit(*def.body);
    return std::move(found_);
  }

 private:
  void find_origins(const Exp& e) {
    core::for_each_child(e, [&](const ExpPtr& x) { find_origins(*x); });
    for (VarId v : e.ext) {
      if (is_unknown_(v)) origins_.emplace(v, e.range);
    }
    if (const auto* loop = std::get_if<core::ELoop>(&e.node)) {
      for (VarId v : loop->sizes) {
        if (!is_unknown_(v) || std::count(e.ext.begin(), e.ext.end(), v) > 0) continue;
        origins_.emplace(v, e.range);
        of_loops_.insert(v);
      }
    }
  }

  static bool contains_loop(const Exp& e, VarId size) {
    const auto* loop = std::get_if<core::ELoop>(&e.node);
    if (loop && std::count(loop->sizes.begin(), loop->sizes.end(), size) > 0) return true;
    bool found = false;
    core::for_each_child(e, [&](const ExpPtr& x) { found = found || contains_loop(*x, size); });
    return found;
  }

  /// A function that a loop gets from outside may be made for what the loop makes.
  void need_of_parameters(const core::ELambda& lambda) {
    std::vector<VarId> any;
    for (VarId v : of_loops_) {
      if (!known_.count(v) && !contains_loop(*lambda.body, v)) any.push_back(v);
    }
    known_.insert(any.begin(), any.end());
    for (const auto& p : lambda.params) need(p->type, "a parameter", p->range);
    for (VarId v : any) known_.erase(v);
  }

  /// A function that is applied to what a loop makes takes values of any size.
  bool is_any(VarId v, const core::TypePtr& type) const {
    if (!of_loops_.count(v)) return false;
    std::unordered_set<VarId> outside_of_functions;
    core::whole_sizes(type, outside_of_functions);
    return !outside_of_functions.count(v);
  }

  void need(const core::TypePtr& type, const std::string& what, const SourceRange& range) {
    if (found_) return;
    std::unordered_set<VarId> sizes;
    core::free_sizes(type, sizes);
    for (VarId v : std::set<VarId>(sizes.begin(), sizes.end())) {
      const auto origin = origins_.find(v);
      if (origin == origins_.end() || known_.count(v) || is_any(v, type)) continue;
      const std::string name = core::str(core::Size::of_var(v), names_);
      found_ = Diagnostic{Severity::kError, range, "", "", {}};
      found_->message = "Causality check: size \"" + name + "\" needed for type of " + what +
                        ":\n  " + core::str(type, names_) + "\nBut \"" + name +
                        "\" is computed at " + origin->second.str() +
                        ".\nHint: bind the expression that computes \"" + name +
                        "\" with \"let\" beforehand.";
      found_->anchor = "causality-check";
      return;
    }
  }

  /// Goes through `e`; afterwards, what is known after it is known.
  void visit(const Exp& e) {
    if (found_) return;
    if (const auto* lambda = std::get_if<core::ELambda>(&e.node)) {
      const size_t before = order_.size();
      need_of_parameters(*lambda);
      for (const auto& p : lambda->params) bind(*p);
      visit(*lambda->body);
      forget(before);  // what it makes is nothing outside
      return;
    }
    if (const auto* apply = std::get_if<core::EApply>(&e.node)) {
      visit_apply(*apply);
    } else if (const auto* let = std::get_if<core::ELet>(&e.node)) {
      visit(*let->value);
      for (VarId v : let->sizes) learn(v);
      bind(*let->pat);
      visit(*let->body);
    } else if (const auto* match = std::get_if<core::EMatch>(&e.node)) {
      visit(*match->scrutinee);
      std::vector<VarId> made;
      for (const auto& [pat, body] : match->cases) branch(pat.get(), *body, made);
      for (VarId v : made) learn(v);
    } else if (const auto* loop = std::get_if<core::ELoop>(&e.node)) {
      visit_loop(*loop);
    } else if (const auto* choice = std::get_if<core::EIf>(&e.node)) {
      visit(*choice->cond);
      std::vector<VarId> made;
      for (const ExpPtr& x : {choice->then_branch, choice->else_branch}) branch(nullptr, *x, made);
      for (VarId v : made) learn(v);
    } else {
      core::for_each_child(e, [&](const ExpPtr& x) { visit(*x); });
      need_own(e);
    }
    for (VarId v : e.ext) learn(v);
  }

  void need_own(const Exp& e) {
    if (const auto* v = std::get_if<core::EVar>(&e.node)) {
      const bool instance = !v->targs.empty() || !v->sargs.empty();
      if (instance) need(e.type, "\"" + (*names_.vars)[v->id.index] + "\"", e.range);
    } else if (std::holds_alternative<core::EIntrinsic>(e.node)) {
      need(e.type, "this operation", e.range);
    } else if (std::holds_alternative<core::EHole>(e.node)) {
      need(e.type, "hole", e.range);
    } else if (const auto* a = std::get_if<core::EArray>(&e.node)) {
      if (a->elems.empty()) need(e.type, "empty array", e.range);
    } else if (const auto* c = std::get_if<core::EConstr>(&e.node)) {
      need(e.type, "\"#" + c->name + "\"", e.range);
    }
  }

  bool is_operator(const Exp& fun) const {
    if (std::holds_alternative<core::EIntrinsic>(fun.node)) return true;
    const auto* v = std::get_if<core::EVar>(&fun.node);
    if (!v) return false;
    const std::string& name = (*names_.vars)[v->id.index];
    return !name.empty() &&
           std::string_view("+-*/%&|^<>=!").find(name[0]) != std::string_view::npos;
  }

  void visit_apply(const core::EApply& apply) {
    if (is_operator(*apply.fun)) {
      for (const ExpPtr& x : apply.args) visit(*x);
    } else {
      for (auto x = apply.args.rbegin(); x != apply.args.rend(); ++x) visit(**x);
    }
    visit(*apply.fun);
  }

  /// One of several ways, of which none knows what another makes; `made` gets what this one does.
  void branch(const core::Pat* pat, const Exp& body, std::vector<VarId>& made) {
    const size_t before = order_.size();
    if (pat) bind(*pat);
    const size_t start = order_.size();
    visit(body);
    made.insert(made.end(), order_.begin() + static_cast<std::ptrdiff_t>(start), order_.end());
    forget(before);
  }

  void visit_loop(const core::ELoop& loop) {
    visit(*loop.init);
    const size_t before = order_.size();
    for (VarId v : loop.sizes) learn(v);
    bind(*loop.pat);
    if (loop.index.valid()) learn(loop.index);
    if (loop.elem_pat) bind(*loop.elem_pat);
    visit(*loop.bound);
    visit(*loop.body);
    forget(before);
  }

  void bind(const core::Pat& p) {
    if (const auto* b = std::get_if<core::PBind>(&p.node)) learn(b->id);
    if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
      for (const auto& f : r->fields) bind(*f.second);
    }
    if (const auto* c = std::get_if<core::PConstr>(&p.node)) {
      for (const auto& x : c->args) bind(*x);
    }
  }

  void learn(VarId v) {
    if (known_.insert(v).second) order_.push_back(v);
  }
  /// All but the first `count` that were learnt.
  void forget(size_t count) {
    for (; order_.size() > count; order_.pop_back()) known_.erase(order_.back());
  }

  const core::Names& names_;
  const IsUnknown& is_unknown_;
  std::unordered_map<VarId, SourceRange> origins_;  // of existential sizes: where they are computed
  std::unordered_set<VarId> known_;                 // at this point of the evaluation
  std::vector<VarId> order_;                        // of these, as they were learnt
  std::unordered_set<VarId> of_loops_;  // sizes inside loops that their results do not have
  std::optional<Diagnostic> found_;
};

}  // namespace

std::optional<Diagnostic> check_causality(const core::Def& def, const core::Names& names,
                                          const IsUnknown& is_unknown) {
  return Causality(names, is_unknown).check(def);
}

}  // namespace kenaz::sizes

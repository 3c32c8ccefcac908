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
using Known = std::unordered_set<VarId>;

class Causality {
 public:
  Causality(const core::Names& names, const IsUnknown& is_unknown)
      : names_(names), is_unknown_(is_unknown) {}

  std::optional<Diagnostic> check(const core::Def& def) {
    if (!def.body) return std::nullopt;
    find_origins(*def.body);
    if (!origins_.empty()) visit(*def.body, {});
    return std::move(found_);
  }

 private:
  void find_origins(const Exp& e) {
    core::for_each_child(e, [&](const ExpPtr& x) { find_origins(*x); });
    for (VarId v : e.ext) {
      if (is_unknown_(v)) origins_.emplace(v, e.range);
    }
  }

  void need(const core::TypePtr& type, const std::string& what, const SourceRange& range,
            const Known& known) {
    if (found_) return;
    std::unordered_set<VarId> sizes;
    core::free_sizes(type, sizes);
    for (VarId v : std::set<VarId>(sizes.begin(), sizes.end())) {
      const auto origin = origins_.find(v);
      if (origin == origins_.end() || known.count(v)) continue;
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

  /// Returns what is known after `e`, besides what was known before it.
  Known visit(const Exp& e, const Known& known) {
    Known made;
    if (found_) return made;
    if (const auto* lambda = std::get_if<core::ELambda>(&e.node)) {
      Known inside = known;
      for (const auto& p : lambda->params) {
        need(p->type, "a parameter", p->range, known);
        bind(*p, inside);
      }
      visit(*lambda->body, inside);  // what it makes is nothing outside
      return made;
    }
    if (const auto* apply = std::get_if<core::EApply>(&e.node)) {
      visit_apply(*apply, known, made);
    } else if (const auto* let = std::get_if<core::ELet>(&e.node)) {
      made = visit(*let->value, known);
      made.insert(let->sizes.begin(), let->sizes.end());
      bind(*let->pat, made);
      then(*let->body, known, made);
    } else if (const auto* match = std::get_if<core::EMatch>(&e.node)) {
      made = visit(*match->scrutinee, known);
      branches(*match, known, made);
    } else if (const auto* loop = std::get_if<core::ELoop>(&e.node)) {
      visit_loop(*loop, known, made);
    } else if (const auto* branch = std::get_if<core::EIf>(&e.node)) {
      made = visit(*branch->cond, known);
      const Known before = joined(known, made);
      for (const ExpPtr& x : {branch->then_branch, branch->else_branch})
        add(made, visit(*x, before));
    } else {
      core::for_each_child(e, [&](const ExpPtr& x) { then(*x, known, made); });
      need_own(e, joined(known, made));
    }
    made.insert(e.ext.begin(), e.ext.end());
    return made;
  }

  void need_own(const Exp& e, const Known& known) {
    if (const auto* v = std::get_if<core::EVar>(&e.node)) {
      const bool instance = !v->targs.empty() || !v->sargs.empty();
      if (instance) need(e.type, "\"" + (*names_.vars)[v->id.index] + "\"", e.range, known);
    } else if (std::holds_alternative<core::EIntrinsic>(e.node)) {
      need(e.type, "this operation", e.range, known);
    } else if (std::holds_alternative<core::EHole>(e.node)) {
      need(e.type, "hole", e.range, known);
    } else if (const auto* a = std::get_if<core::EArray>(&e.node)) {
      if (a->elems.empty()) need(e.type, "empty array", e.range, known);
    } else if (const auto* c = std::get_if<core::EConstr>(&e.node)) {
      need(e.type, "\"#" + c->name + "\"", e.range, known);
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

  void visit_apply(const core::EApply& apply, const Known& known, Known& made) {
    std::vector<ExpPtr> order = apply.args;
    if (!is_operator(*apply.fun)) std::reverse(order.begin(), order.end());
    for (const ExpPtr& x : order) then(*x, known, made);
    then(*apply.fun, known, made);
  }

  void branches(const core::EMatch& match, const Known& known, Known& made) {
    const Known before = joined(known, made);
    for (const auto& [pat, body] : match.cases) {
      Known inside = before;
      bind(*pat, inside);
      add(made, visit(*body, inside));
    }
  }

  void visit_loop(const core::ELoop& loop, const Known& known, Known& made) {
    made = visit(*loop.init, known);
    Known inside = joined(known, made);
    inside.insert(loop.sizes.begin(), loop.sizes.end());
    bind(*loop.pat, inside);
    if (loop.index.valid()) inside.insert(loop.index);
    if (loop.elem_pat) bind(*loop.elem_pat, inside);
    add(inside, visit(*loop.bound, inside));
    visit(*loop.body, inside);
  }

  static void bind(const core::Pat& p, Known& out) {
    if (const auto* b = std::get_if<core::PBind>(&p.node)) out.insert(b->id);
    if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
      for (const auto& f : r->fields) bind(*f.second, out);
    }
    if (const auto* c = std::get_if<core::PConstr>(&p.node)) {
      for (const auto& x : c->args) bind(*x, out);
    }
  }

  /// Evaluates `e` after what made `made`.
  void then(const Exp& e, const Known& known, Known& made) {
    add(made, visit(e, joined(known, made)));
  }

  static void add(Known& into, const Known& more) { into.insert(more.begin(), more.end()); }
  static Known joined(const Known& a, const Known& b) {
    Known out = a;
    add(out, b);
    return out;
  }

  const core::Names& names_;
  const IsUnknown& is_unknown_;
  std::unordered_map<VarId, SourceRange> origins_;  // of existential sizes: where they are computed
  std::optional<Diagnostic> found_;
};

}  // namespace

std::optional<Diagnostic> check_causality(const core::Def& def, const core::Names& names,
                                          const IsUnknown& is_unknown) {
  return Causality(names, is_unknown).check(def);
}

}  // namespace kenaz::sizes

#include "kernels/futhark/check/sizes.h"

#include <algorithm>
#include <set>

#include "kernels/futhark/core/type_util.h"

namespace kenaz::check {

std::string Sizes::size_text(const Size& s) {
  const Size known = vars_.resolve(s);
  if (known.kind == Size::kAny) return "[]";
  return "\"" + core::str(known, vars_.names()) + "\"";
}

void Sizes::adjust_level(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  for (VarId v : vars) {
    Var& info = vars_[v];
    if (info.solved) {
      adjust_level(Size(info.solution), level);
    } else if (info.flex) {
      info.level = std::min(info.level, level);
    }
  }
}

// Does `s` mention a name from inside a function, branch or loop that `level` is outside of?
bool Sizes::too_deep(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  return std::any_of(vars.begin(), vars.end(), [&](VarId v) {
    const Var& info = vars_[v];
    return !info.solved && !info.flex && info.level > level;
  });
}

bool Sizes::mentions_unborn(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  return std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v].unborn; });
}

// What is known of the sizes in `s` that have no name in the program: a line for each.
std::string Sizes::size_notes(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(vars_.resolve(s), vars);
  std::string out;
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    const Var& var = vars_[v];
    const std::string is = "\nWhere \"" + vars_.name(v) + "\" ";
    if (!var.joined.empty()) {
      auto text = [&](const Size& x) {
        const std::string name = size_text(x);
        return name.size() > 1 && name[0] == '"' ? "[" + name.substr(1, name.size() - 2) + "]"
                                                 : name;
      };
      out += is + "is the size of a branch: " + text(var.joined[0]) + " or " + text(var.joined[1]) +
             ".";
    } else if (!var.origin.empty()) {
      out += is + "is the " + var.origin + (var.range.file ? " at " + var.range.str() : "") + ".";
    }
  }
  return out;
}

bool Sizes::size_mismatch(const Size& a, const Size& b) {
  std::unordered_set<VarId> vars;
  core::free_sizes(a, vars);
  core::free_sizes(b, vars);
  const bool vague = std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v].vague; });
  if (comparing_.any_sizes() || vague) return true;
  for (const Size* s : {&b, &a}) {  // no two sizes in one message by one name
    if (s->kind == Size::kVar && !vars_[s->var].named && size_text(a) == size_text(b)) {
      vars_.mark(s->var);
    }
  }
  std::string parameter;
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    if (!vars_[v].unborn || !vars_[v].named) continue;
    parameter = "\n\"" + vars_.name(v) +
                "\" is a parameter of the function, and not in scope outside of its type "
                "(scope-violation).";
  }
  comparing_.mismatch.because("Sizes " + size_text(a) + " and " + size_text(b) + " do not match." +
                              parameter + size_notes(a) + size_notes(b));
  return false;
}

// The first variable in `s` from further inside than `level`, or an invalid one.
VarId Sizes::first_too_deep(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    const Var& inner = vars_[v];
    if (!inner.solved && !inner.flex && inner.level > level) return v;
  }
  return {};
}

bool Sizes::size_too_deep(VarId flex, const Size& size) {
  if (comparing_.any_sizes()) return true;
  const Var& outer = vars_[flex];
  Size s = size;
  VarId v = first_too_deep(s, outer.level);
  if (!v.valid()) return false;
  if (!vars_[v].named && vars_[v].means.kind != Size::kAny) {
    // Say what is written, which has names.
    const VarId part = first_too_deep(vars_.meaning(s), outer.level);
    if (part.valid() && vars_[part].named) {
      s = vars_.meaning(s);
      v = part;
    }
  }
  const bool is_named = vars_[v].named;
  comparing_.mismatch.because(
      (is_named ? "A" : "Causality check: a") + std::string(" size would have to be ") +
      size_text(s) + ", but \"" + vars_.name(v) + "\" is not in scope where it belongs" +
      (outer.loop && !is_named ? ": it is computed inside the loop body" : "") +
      " (scope-violation)." + size_notes(s));
  return false;
}

bool Sizes::unify_size(const Size& sa, const Size& sb) {
  if (comparing_.sizes == CompareSizes::kNone) return true;
  Size a = vars_.meaning(sa), b = vars_.meaning(sb), name = vars_.resolve(sb);
  if (a.kind == Size::kAny || b.kind == Size::kAny) return true;
  if (core::same_size(a, b)) return true;
  auto absorbs = [&](const Size& s) {
    std::unordered_set<VarId> vars;
    core::free_sizes(s, vars);
    return std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v].absorbs; });
  };
  if (absorbs(a) || absorbs(b)) return true;
  // How open a size is: 2 to be inferred, 1 a name that may yet be equal to something.
  auto open = [&](const Size& s) {
    if (s.kind != Size::kVar) return 0;
    const Var& v = vars_[s.var];
    return v.flex ? 2 : v.binder ? 1 : 0;
  };
  if (open(a) == 2 && open(b) == 2) {
    // The newer one gets solved, but not that of a loop by one of which it may be an instance.
    const bool keep_a = vars_[a.var].loop && vars_[b.var].of_function;
    const bool keep_b = vars_[b.var].loop && vars_[a.var].of_function;
    if (keep_a || (a.var.index < b.var.index && !keep_b)) {
      std::swap(a, b);
      name = vars_.resolve(sa);
    }
  } else if (open(a) < open(b)) {
    std::swap(a, b);
    name = vars_.resolve(sa);
  }
  if (open(a) == 0) {
    if (a.kind == Size::kExp && b.kind == Size::kExp) return unify_size_exps(a.exp, b.exp);
    return size_mismatch(a, b);
  }
  std::unordered_set<VarId> vars;
  core::free_sizes(b, vars);
  Var& v = vars_[a.var];
  core::free_sizes(name, vars);
  if (vars.count(a.var) && b.kind == Size::kExp && !comparing_.any_sizes()) {
    comparing_.mismatch.because("Occurs check: a size " + size_text(a) + " cannot be equal to " +
                                size_text(name) + ".");
    return false;
  }
  if (vars.count(a.var) || (mentions_unborn(b) && !v.unborn)) return size_mismatch(a, b);
  if (open(a) == 1) {
    v.means = b;
    return true;
  }
  if (too_deep(name, vars_[a.var].level)) {
    if (open(name) == 1) {  // of `let [n]`: a name for a size of outside, which stays open
      vars_[name.var].means = a;
      return true;
    }
    return size_too_deep(a.var, name);
  }
  adjust_level(name, vars_[a.var].level);
  vars_[a.var].solved = true;
  vars_[a.var].solution = name;
  return true;
}

// [n * m] against [a * b]: component by component.
bool Sizes::unify_size_exps(const ExpPtr& a, const ExpPtr& b) {
  const auto* x = std::get_if<core::EApply>(&a->node);
  const auto* y = std::get_if<core::EApply>(&b->node);
  if (x && y && x->args.size() == y->args.size() && core::same_size_exp(x->fun, y->fun)) {
    for (size_t i = 0; i < x->args.size(); i++) {
      const Mismatch before = comparing_.mismatch;
      if (unify_size(core::size_of_exp(x->args[i]), core::size_of_exp(y->args[i]))) continue;
      comparing_.mismatch = before;  // say which sizes differ, not which parts of them
      return size_mismatch(Size::of_exp(a), Size::of_exp(b));
    }
    return true;
  }
  return size_mismatch(Size::of_exp(a), Size::of_exp(b));
}

}  // namespace kenaz::check

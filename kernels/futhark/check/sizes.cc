// Sizes: when two are the same, what an unsolved one is, and what is left of them outside of the
// expression that made them.
//
// Sizes are unified together with the types that they are part of, not by a pass of their own
// behind inference: lowering needs the sizes that each use of a definition is instantiated with,
// and two solvers of the same equations would come to differ. What can be said of finished
// definitions is in the folder sizes.
//
// A size is one of: a constant; a rigid variable, which is a name in the program or what a value
// turns out to have; a flexible one, to be solved, but only by what is in scope where it belongs
// (its level); an expression over these. Two rigid sizes are the same if they mean the same: a name
// may be known to be equal to something (`Var::means`), and is kept in types all the same.
#include <algorithm>
#include <functional>
#include <set>

#include "kernels/futhark/check/checker.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TArray;
using core::TRecord;

void Checker::adjust_level(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  for (VarId v : vars) {
    Var& info = vars_[v.index];
    if (info.solved) {
      adjust_level(Size(info.solution), level);
    } else if (info.flex) {
      info.level = std::min(info.level, level);
    }
  }
}

// Does `s` mention a name from inside a function, branch or loop that `level` is outside of?
bool Checker::too_deep(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  return std::any_of(vars.begin(), vars.end(), [&](VarId v) {
    const Var& info = vars_[v.index];
    return !info.solved && !info.flex && info.level > level;
  });
}

bool Checker::mentions_unborn(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  return std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v.index].unborn; });
}

// What is known of the sizes in `s` that have no name in the program: a line for each.
std::string Checker::size_notes(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(resolve(s), vars);
  std::string out;
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    const Var& var = vars_[v.index];
    const std::string is = "\nWhere \"" + out_.var_names[v.index] + "\" ";
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

bool Checker::size_mismatch(const Size& a, const Size& b) {
  std::unordered_set<VarId> vars;
  core::free_sizes(a, vars);
  core::free_sizes(b, vars);
  const bool vague =
      std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v.index].vague; });
  if (any_sizes_ || vague) return true;
  for (const Size* s : {&b, &a}) {  // no two sizes in one message by one name
    if (s->kind == Size::kVar && !vars_[s->var.index].named && size_text(a) == size_text(b)) {
      out_.var_names[s->var.index] += "'";
    }
  }
  std::string parameter;
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    if (!vars_[v.index].unborn || !vars_[v.index].named) continue;
    parameter = "\n\"" + out_.var_names[v.index] +
                "\" is a parameter of the function, and not in scope outside of its type "
                "(scope-violation).";
  }
  mismatch_.because("Sizes " + size_text(a) + " and " + size_text(b) + " do not match." +
                    parameter + size_notes(a) + size_notes(b));
  return false;
}

// The first variable in `s` from further inside than `level`, or an invalid one.
VarId Checker::first_too_deep(const Size& s, int level) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  for (VarId v : std::set<VarId>(vars.begin(), vars.end())) {
    const Var& inner = vars_[v.index];
    if (!inner.solved && !inner.flex && inner.level > level) return v;
  }
  return {};
}

bool Checker::size_too_deep(VarId flex, const Size& size) {
  if (any_sizes_) return true;
  const Var& outer = vars_[flex.index];
  Size s = size;
  VarId v = first_too_deep(s, outer.level);
  if (!v.valid()) return false;
  if (!vars_[v.index].named && vars_[v.index].means.kind != Size::kAny) {
    // Say what is written, which has names.
    const VarId part = first_too_deep(meaning(s), outer.level);
    if (part.valid() && vars_[part.index].named) {
      s = meaning(s);
      v = part;
    }
  }
  const bool is_named = vars_[v.index].named;
  mismatch_.because((is_named ? "A" : "Causality check: a") +
                    std::string(" size would have to be ") + size_text(s) + ", but \"" +
                    out_.var_names[v.index] + "\" is not in scope where it belongs" +
                    (outer.loop && !is_named ? ": it is computed inside the loop body" : "") +
                    " (scope-violation)." + size_notes(s));
  return false;
}

/// What a size is, for comparisons: names that are equal to something replaced by it.
Size Checker::meaning(const Size& size, int depth) {
  Size s = resolve(size);
  if (depth > 50) return s;
  if (s.kind == Size::kVar) {
    const Size& means = vars_[s.var.index].means;
    return means.kind == Size::kAny ? s : meaning(Size(means), depth + 1);
  }
  if (s.kind != Size::kExp) return s;
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  core::Subst subst;
  for (VarId v : vars) {
    if (vars_[v.index].means.kind != Size::kAny) {
      subst.sizes[v] = meaning(Size::of_var(v), depth + 1);
    }
  }
  if (subst.sizes.empty() || core::size_nodes(s.exp, kMaxSizeNodes) >= kMaxSizeNodes) return s;
  return core::substitute(s, subst);
}

bool Checker::unify_size(const Size& sa, const Size& sb) {
  Size a = meaning(sa), b = meaning(sb), name = resolve(sb);
  if (a.kind == Size::kAny || b.kind == Size::kAny) return true;
  if (core::same_size(a, b)) return true;
  auto absorbs = [&](const Size& s) {
    std::unordered_set<VarId> vars;
    core::free_sizes(s, vars);
    return std::any_of(vars.begin(), vars.end(), [&](VarId v) { return vars_[v.index].absorbs; });
  };
  if (absorbs(a) || absorbs(b)) return true;
  // How open a size is: 2 to be inferred, 1 a name that may yet be equal to something.
  auto open = [&](const Size& s) {
    if (s.kind != Size::kVar) return 0;
    const Var& v = vars_[s.var.index];
    return v.flex ? 2 : v.binder ? 1 : 0;
  };
  if (open(a) == 2 && open(b) == 2) {
    if (a.var.index < b.var.index) {  // the newer one gets solved
      std::swap(a, b);
      name = resolve(sa);
    }
  } else if (open(a) < open(b)) {
    std::swap(a, b);
    name = resolve(sa);
  }
  if (open(a) == 0) {
    if (a.kind == Size::kExp && b.kind == Size::kExp) return unify_size_exps(a.exp, b.exp);
    return size_mismatch(a, b);
  }
  std::unordered_set<VarId> vars;
  core::free_sizes(b, vars);
  Var& v = vars_[a.var.index];
  core::free_sizes(name, vars);
  if (vars.count(a.var) && b.kind == Size::kExp && !any_sizes_) {
    mismatch_.because("Occurs check: a size " + size_text(a) + " cannot be equal to " +
                      size_text(name) + ".");
    return false;
  }
  if (vars.count(a.var) || (mentions_unborn(b) && !v.unborn)) return size_mismatch(a, b);
  if (open(a) == 1) {
    v.means = b;
    return true;
  }
  name = named_size(name);
  if (too_deep(name, vars_[a.var.index].level)) return size_too_deep(a.var, name);
  adjust_level(name, vars_[a.var.index].level);
  vars_[a.var.index].solved = true;
  vars_[a.var.index].solution = name;
  return true;
}

// [n * m] against [a * b]: component by component.
bool Checker::unify_size_exps(const ExpPtr& a, const ExpPtr& b) {
  const auto* x = std::get_if<core::EApply>(&a->node);
  const auto* y = std::get_if<core::EApply>(&b->node);
  if (x && y && x->args.size() == y->args.size() && core::same_size_exp(x->fun, y->fun)) {
    for (size_t i = 0; i < x->args.size(); i++) {
      const Mismatch before = mismatch_;
      if (unify_size(core::size_of_exp(x->args[i]), core::size_of_exp(y->args[i]))) continue;
      mismatch_ = before;  // say which sizes differ, not which parts of them
      return size_mismatch(Size::of_exp(a), Size::of_exp(b));
    }
    return true;
  }
  return size_mismatch(Size::of_exp(a), Size::of_exp(b));
}

// The type of `if c then a else b`, when a and b have been unified: a size in which they differ is
// a new, existential one.
TypePtr Checker::join(const TypePtr& ta, const TypePtr& tb) {
  TypePtr a = resolve(ta), b = resolve(tb);
  if (a->node.index() != b->node.index()) return a;
  auto join_size = [&](const Size& sa, const Size& sb) {
    Size x = resolve(sa), y = resolve(sb);
    if (core::same_size(x, y)) return x;
    if (core::same_size(meaning(x), meaning(y))) return x;
    for (uint32_t i = next_var(); i-- > 0 && !vars_[i].joined.empty();) {
      const auto& known = vars_[i].joined;
      if (core::same_size(known[0], x) && core::same_size(known[1], y))
        return Size::of_var(VarId{i});
    }
    VarId v = new_var("d");
    vars_[v.index].joined = {x, y};
    return Size::of_var(v);
  };
  if (const auto* x = std::get_if<TArray>(&a->node)) {
    const auto& y = std::get<TArray>(b->node);
    Size dim = join_size(x->dim, y.dim);
    return core::array_type(dim, join(x->elem, y.elem));
  }
  if (const auto* x = std::get_if<TRecord>(&a->node)) {
    const auto& y = std::get<TRecord>(b->node);
    TRecord out;
    for (size_t i = 0; i < x->fields.size() && i < y.fields.size(); i++) {
      out.fields.emplace_back(x->fields[i].first, join(x->fields[i].second, y.fields[i].second));
    }
    return core::make_type(std::move(out));
  }
  // Sums and abstract types: unified, so they have as many sizes, in the same order.
  std::vector<Size> theirs;
  map_dims(b, [&](const Size& s) {
    theirs.push_back(s);
    return s;
  });
  size_t at = 0;
  return map_dims(a, [&](const Size& s) {
    return at < theirs.size() ? join_size(s, theirs[at++]) : resolve(s);
  });
}

// `t` with every size outside function types replaced by f(size), from left to right.
TypePtr Checker::map_dims(const TypePtr& type, const std::function<Size(const Size&)>& f) {
  TypePtr t = resolve(type);
  return std::visit(
      Overloaded{[&](const core::TArray& a) {
                   Size dim = f(a.dim);
                   return core::make_type(core::TArray{dim, map_dims(a.elem, f)}, t->unique);
                 },
                 [&](const core::TRecord& r) {
                   core::TRecord out;
                   for (const auto& [name, x] : r.fields) {
                     out.fields.emplace_back(name, map_dims(x, f));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const core::TSum& s) {
                   core::TSum out;
                   for (const auto& [name, payload] : s.constructors) {
                     std::vector<TypePtr> types;
                     for (const auto& x : payload) types.push_back(map_dims(x, f));
                     out.constructors.emplace_back(name, std::move(types));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const core::TAbstract& a) {
                   core::TAbstract out{a.id, {}};
                   for (const auto& arg : a.args) {
                     if (const auto* x = std::get_if<TypePtr>(&arg)) {
                       out.args.emplace_back(map_dims(*x, f));
                     } else {
                       out.args.emplace_back(f(std::get<Size>(arg)));
                     }
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const auto&) { return t; }},
      t->node);
}

// Expressions that are sizes by themselves somewhere in `t` replaced by the name of that size where
// they are part of another one: ([d], [n - k]) is ([d], [n - d]) if d means k.
TypePtr Checker::with_witnesses(const TypePtr& t) {
  std::vector<std::pair<ExpPtr, VarId>> witnesses;
  bool sums = false;
  map_dims(t, [&](const Size& s) {
    const Size size = resolve(s), means = meaning(size);
    sums |= size.kind == Size::kExp || !witnesses.empty();
    if (size.kind == Size::kVar && means.kind == Size::kExp) {
      witnesses.emplace_back(means.exp, size.var);
    }
    return s;
  });
  if (witnesses.empty() || !sums) return t;
  std::function<ExpPtr(const ExpPtr&)> replace, replace_parts;
  replace = [&](const ExpPtr& e) -> ExpPtr {
    const Size means = meaning(core::size_of_exp(e));
    for (const auto& [exp, v] : witnesses) {
      if (means.kind == Size::kExp && core::same_size_exp(means.exp, exp)) {
        return core::exp_of_size(Size::of_var(v));
      }
    }
    return replace_parts(e);
  };
  replace_parts = [&](const ExpPtr& e) -> ExpPtr {
    const auto* a = std::get_if<core::EApply>(&e->node);
    if (!a) return e;
    core::EApply out{a->fun, {}};
    for (const ExpPtr& x : a->args) out.args.push_back(replace(x));
    if (out.args == a->args) return e;
    auto copy = std::make_shared<core::Exp>(*e);
    copy->node = std::move(out);
    return copy;
  };
  return map_dims(t, [&](const Size& s) {
    const Size size = resolve(s), means = meaning(size);
    if (size.kind == Size::kExp) return core::size_of_exp(replace(size.exp));
    if (means.kind != Size::kExp) return size;
    const ExpPtr parts = replace_parts(means.exp);
    return parts == means.exp ? size : core::size_of_exp(parts);
  });
}

// `t` as seen from outside an expression whose size variables are those from `start` on: a size
// computed from such variables becomes a new, existential one. (A size that is such a variable may
// stay: it is existential itself.) Variables in `keep` are known outside. `same_body`: so are the
// sizes that values turned out to have, for it is only the scope of names that ends.
TypePtr Checker::hide(const TypePtr& type, uint32_t start, const std::unordered_set<VarId>* keep,
                      bool same_body) {
  TypePtr t = with_witnesses(type);
  auto inside = [&](VarId v) {
    const Var& info = vars_[v.index];
    return v.index >= start && !info.flex && !info.param && !(keep && keep->count(v));
  };
  for (;;) {
    std::unordered_set<VarId> whole;
    core::whole_sizes(t, whole);
    // The smallest expression first: it may be a part of others, which stay then.
    ExpPtr dead;
    map_dims(t, [&](const Size& s) {
      const Size dim = resolve(s);
      if (dim.kind == Size::kVar && inside(dim.var)) {
        vars_[dim.var.index].level = std::min(vars_[dim.var.index].level, fn_->level);
      }
      if (dim.kind != Size::kExp) return dim;
      std::unordered_set<VarId> vars;
      core::free_sizes(dim, vars);
      const bool hidden = std::any_of(vars.begin(), vars.end(), [&](VarId v) {
        return inside(v) && !whole.count(v) && (vars_[v.index].named || !same_body);
      });
      const auto nodes = [](const ExpPtr& e) { return core::size_nodes(e, kMaxSizeNodes); };
      if (hidden && (!dead || nodes(dim.exp) < nodes(dead))) dead = dim.exp;
      return dim;
    });
    if (!dead) return t;
    const VarId v = new_var("d");
    vars_[v.index].means = Size::of_exp(dead);
    t = with_witnesses(map_dims(t, [&](const Size& s) {
      const Size dim = resolve(s);
      return dim.kind == Size::kExp && core::same_size_exp(dim.exp, dead) ? Size::of_var(v) : dim;
    }));
  }
}

}  // namespace kenaz::check

#include "kernels/futhark/check/existential.h"

#include <algorithm>
#include <functional>

#include "kernels/futhark/core/type_util.h"

namespace kenaz::check {

using core::TArray;
using core::TArrow;
using core::TRecord;

// The type of an application in which the sizes that are existential in what a type variable stands
// for have become sizes of this result, or of the results of functions in it.
TypePtr Existentials::release_absorbed(const TypePtr& type, const SourceRange& range,
                                       const std::string& what) {
  std::unordered_set<VarId> vars, produced;
  TypePtr t = vars_.zonk(type, Zonk::kKeep);
  core::free_sizes(t, vars);
  std::erase_if(vars, [&](VarId v) { return !vars_[v].absorbs; });
  if (vars.empty()) return type;
  core::whole_sizes(t, produced);
  core::Subst subst;
  std::vector<VarId> fresh;
  for (VarId v : vars) {
    if (!produced.count(v)) continue;
    fresh.push_back(vars_.new_var(vars_.name(v)));
    vars_[fresh.back()].vague = vars_[v].vague;
    subst.sizes[v] = Size::of_var(fresh.back());
  }
  if (!fresh.empty()) t = core::substitute(t, subst);
  const auto* arrow = std::get_if<TArrow>(&t->node);
  if (!arrow) return t;
  std::unordered_set<VarId> taken;
  core::free_sizes(arrow->from, taken);
  for (VarId v : taken) {
    if (!vars_[v].absorbs || vars_[v].vague) continue;
    reports_.error(
        range,
        what + "Existential size would appear in function parameter of return type:\n  " +
            infer_.type_text(t) +
            "\nThe function that is an argument here has a result of an existential size, or "
            "of a size\nthat is one of its parameters.");
    return core::tuple_type({});
  }
  TArrow out = *arrow;
  const uint32_t start = vars_.next_var();
  out.to = release_absorbed(arrow->to, range, what);
  std::unordered_set<VarId> existential;
  core::free_sizes(out.to, existential);
  for (VarId v : existential) {
    if (v.index >= start) out.ext.push_back(v);
  }
  std::sort(out.ext.begin(), out.ext.end());
  return core::make_type(std::move(out), t->unique);
}

// A function type that is a result: what sizes made since `start` its own results have, they have
// existentially.
TypePtr Existentials::close_arrow(const TypePtr& type, uint32_t start,
                                  std::unordered_set<VarId> bound) {
  const auto* a = std::get_if<TArrow>(&type->node);
  if (!a) return type;
  if (a->param.valid()) bound.insert(a->param);
  core::free_sizes(a->from, bound);
  TArrow out = *a;
  if (std::holds_alternative<TArrow>(a->to->node)) {
    out.to = close_arrow(a->to, start, std::move(bound));
    return core::make_type(std::move(out), type->unique);
  }
  bound.insert(a->ext.begin(), a->ext.end());
  out.to = hide(a->to, start, &bound);
  std::unordered_set<VarId> free;
  core::free_sizes(out.to, free);
  for (VarId v : free) {
    const Var& info = vars_[v];
    if (v.index >= start && !bound.count(v) && !info.flex && !info.param && !info.outside) {
      out.ext.push_back(v);
    }
  }
  std::sort(out.ext.begin(), out.ext.end());
  return core::make_type(std::move(out), type->unique);
}

// `t` with the names of expressions over what is known before the function, all of which came
// before `start`, replaced by names that are known there, too.
TypePtr Existentials::known_outside(const TypePtr& t, uint32_t start,
                                    const std::unordered_set<VarId>& bound) {
  return vars_.map_dims(vars_.zonk(t, Zonk::kKeep), [&](const Size& s) {
    const Size size = vars_.resolve(s);
    if (size.kind != Size::kVar || size.var.index < start || bound.count(size.var)) return size;
    const Size means = vars_.meaning(size);
    if (means.kind != Size::kExp || sizes_.too_deep(means, vars_.level())) return size;
    std::unordered_set<VarId> parts;
    core::free_sizes(means, parts);
    const bool outside = std::all_of(parts.begin(), parts.end(), [&](VarId part) {
      return part.index < start && !bound.count(part);
    });
    if (!outside) return size;
    const Size named = sizes_.named_size(means);
    if (named.kind == Size::kVar) vars_[named.var].outside = true;
    return named;
  });
}

// The type of a function with these parameters. `ext`: existential sizes that the result's type
// declares; without any, they are the sizes made since `start` that are no parameters.
TypePtr Existentials::arrow_type(const std::vector<PatPtr>& params, TypePtr ret, uint32_t start,
                                 std::vector<VarId> ext) {
  std::unordered_set<VarId> free, bound;
  for (const auto& p : params) {
    core::free_sizes(vars_.zonk(p->type, Zonk::kKeep), bound);
    if (const auto* b = std::get_if<core::PBind>(&p->node)) bound.insert(b->id);
  }
  for (VarId v : ext) bound.insert(v);
  ret = close_arrow(hide(known_outside(ret, start, bound), start, &bound), start, bound);
  core::free_sizes(ret, free);
  for (VarId v : free) {
    const Var& info = vars_[v];
    if (v.index >= start && !bound.count(v) && !info.flex && !info.param && !info.outside) {
      ext.push_back(v);
    }
  }
  std::sort(ext.begin(), ext.end());
  for (VarId v : ext) {
    if (vars_[v].means.kind == Size::kAny) continue;
    std::unordered_set<VarId> parts;
    core::free_sizes(vars_.meaning(Size::of_var(v)), parts);
    vars_[v].dependent = std::all_of(parts.begin(), parts.end(), [&](VarId part) {
      return part.index < start || (part != v && bound.count(part) > 0) || vars_[part].param;
    });
    for (size_t i = 0; i < params.size(); i++) {
      const auto* name = std::get_if<core::PBind>(&params[i]->node);
      const bool depends = name && parts.count(name->id) > 0;
      if (depends) vars_[v].on_parameter = static_cast<int>(params.size() - 1 - i);
    }
  }
  TypePtr t = ret;
  for (size_t i = params.size(); i-- > 0;) {
    VarId name;
    if (const auto* b = std::get_if<core::PBind>(&params[i]->node)) {
      if (core::mentions_size(t, b->id)) name = b->id;
    }
    TypePtr from = vars_.zonk(params[i]->type, Zonk::kKeep);
    t = core::make_type(
        TArrow{name, from->unique, from, i + 1 == params.size() ? ext : std::vector<VarId>{}, t});
  }
  return t;
}

// Expressions that are sizes by themselves somewhere in `t` replaced by the name of that size where
// they are part of another one: ([d], [n - k]) is ([d], [n - d]) if d means k.
TypePtr Existentials::with_witnesses(const TypePtr& t) {
  std::vector<std::pair<ExpPtr, VarId>> witnesses;
  bool sums = false;
  vars_.map_dims(t, [&](const Size& s) {
    const Size size = vars_.resolve(s), means = vars_.meaning(size);
    sums |= size.kind == Size::kExp || !witnesses.empty();
    if (size.kind == Size::kVar && means.kind == Size::kExp) {
      witnesses.emplace_back(means.exp, size.var);
    }
    return s;
  });
  if (witnesses.empty() || !sums) return t;
  std::function<ExpPtr(const ExpPtr&)> replace, replace_parts;
  replace = [&](const ExpPtr& e) -> ExpPtr {
    const Size means = vars_.meaning(core::size_of_exp(e));
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
  return vars_.map_dims(t, [&](const Size& s) {
    const Size size = vars_.resolve(s), means = vars_.meaning(size);
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
TypePtr Existentials::hide(const TypePtr& type, uint32_t start,
                           const std::unordered_set<VarId>* keep, bool same_body) {
  TypePtr t = with_witnesses(type);
  auto inside = [&](VarId v) {
    const Var& info = vars_[v];
    return v.index >= start && !info.flex && !info.param && !(keep && keep->count(v));
  };
  for (;;) {
    std::unordered_set<VarId> whole;
    core::whole_sizes(t, whole);
    // The smallest expression first: it may be a part of others, which stay then.
    ExpPtr dead;
    vars_.map_dims(t, [&](const Size& s) {
      const Size dim = vars_.resolve(s);
      if (dim.kind == Size::kVar && inside(dim.var)) {
        vars_[dim.var].level = std::min(vars_[dim.var].level, vars_.level());
      }
      if (dim.kind != Size::kExp) return dim;
      std::unordered_set<VarId> vars;
      core::free_sizes(dim, vars);
      const bool hidden = std::any_of(vars.begin(), vars.end(), [&](VarId v) {
        return inside(v) && !whole.count(v) && (vars_[v].named || !same_body);
      });
      const auto nodes = [](const ExpPtr& e) { return core::size_nodes(e, kMaxSizeNodes); };
      if (hidden && (!dead || nodes(dim.exp) < nodes(dead))) dead = dim.exp;
      return dim;
    });
    if (!dead) return t;
    const VarId v = vars_.new_var("d");
    vars_[v].means = Size::of_exp(dead);
    t = with_witnesses(vars_.map_dims(t, [&](const Size& s) {
      const Size dim = vars_.resolve(s);
      return dim.kind == Size::kExp && core::same_size_exp(dim.exp, dead) ? Size::of_var(v) : dim;
    }));
  }
}

// The type of `if c then a else b`, when a and b have been unified: a size in which they differ is
// a new, existential one.
TypePtr Existentials::join(const TypePtr& ta, const TypePtr& tb) {
  TypePtr a = vars_.resolve(ta), b = vars_.resolve(tb);
  if (a->node.index() != b->node.index()) return a;
  auto join_size = [&](const Size& sa, const Size& sb) {
    Size x = vars_.resolve(sa), y = vars_.resolve(sb);
    if (core::same_size(x, y)) return x;
    // Of a constructor that does not have the part of this size: it is the other branch's.
    for (const auto& [own, other] : {std::pair(x, y), std::pair(y, x)}) {
      if (own.kind != Size::kVar || !vars_[own.var].flex || !vars_[own.var].shape_only) continue;
      vars_[own.var].solved = true;
      vars_[own.var].solution = other;
      return other;
    }
    if (core::same_size(vars_.meaning(x), vars_.meaning(y))) return x;
    for (uint32_t i = vars_.next_var(); i-- > 0 && !vars_[VarId{i}].joined.empty();) {
      const auto& known = vars_[VarId{i}].joined;
      if (core::same_size(known[0], x) && core::same_size(known[1], y))
        return Size::of_var(VarId{i});
    }
    VarId v = vars_.new_var("d");
    vars_[v].joined = {x, y};
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
  vars_.map_dims(b, [&](const Size& s) {
    theirs.push_back(s);
    return s;
  });
  size_t at = 0;
  return vars_.map_dims(a, [&](const Size& s) {
    return at < theirs.size() ? join_size(s, theirs[at++]) : vars_.resolve(s);
  });
}

// The declared type of a function's result after its body: open sizes are those that the body has.
// What it leaves open, too, is generalised at top level; elsewhere it is existential, and `ext`
// becomes these.
TypePtr Existentials::settle_result(const TypePtr& ret, std::vector<VarId>& ext, bool top) {
  core::Subst unknown;
  std::erase_if(ext, [&](VarId v) {
    const Var& var = vars_[v];
    return var.solved || (top && var.means.kind == Size::kAny);
  });
  for (VarId& v : ext) {
    VarId size = vars_.new_var(vars_.name(v));
    unknown.sizes[v] = Size::of_var(size);
    v = size;
  }
  return core::substitute(vars_.zonk(ret, Zonk::kKeep), unknown);
}

}  // namespace kenaz::check

#include "kernels/futhark/check/infer.h"

#include <algorithm>

#include "kernels/futhark/core/type_util.h"
#include "kernels/futhark/core/uniqueness.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TAbstract;
using core::TArray;
using core::TArrow;
using core::TMeta;
using core::TParam;
using core::TPrim;
using core::TRecord;
using core::TSum;

// ---- types

// Types are shared graphs whose written form can be exponentially larger, and everything here walks
// the written form. So it is bounded: `budget` counts down.
bool Inference::small_type(const TypePtr& type, int& budget, int depth) {
  if (--budget < 0 || depth > kMaxTypeDepth) return false;
  TypePtr t = vars_.resolve(type);
  auto below = [&](const TypePtr& x) { return small_type(x, budget, depth + 1); };
  return std::visit(
      Overloaded{[&](const TArray& a) { return below(a.elem); },
                 [&](const TRecord& r) {
                   return std::all_of(r.fields.begin(), r.fields.end(),
                                      [&](const auto& f) { return below(f.second); });
                 },
                 [&](const TSum& s) {
                   return std::all_of(s.constructors.begin(), s.constructors.end(),
                                      [&](const auto& c) {
                                        return std::all_of(c.second.begin(), c.second.end(), below);
                                      });
                 },
                 [&](const TArrow& a) { return below(a.from) && below(a.to); },
                 [&](const TAbstract& a) {
                   return std::all_of(a.args.begin(), a.args.end(), [&](const auto& x) {
                     const auto* arg = std::get_if<TypePtr>(&x);
                     return !arg || below(*arg);
                   });
                 },
                 [](const auto&) { return true; }},
      t->node);
}

void Inference::check_size_of_type(const TypePtr& t, const SourceRange& range) {
  int budget = kMaxTypeNodes;
  if (small_type(t, budget, 0)) return;
  reports_.error(range,
                 budget < 0 ? "The type of this is too large." : "This type is nested too deeply.");
}

// Also lowers the level of everything in `type` to `level`.
bool Inference::occurs(core::MetaId id, int level, const TypePtr& type, int depth) {
  if (depth > kMaxTypeDepth) return true;
  TypePtr t = vars_.resolve(type);
  auto below = [&](const TypePtr& x) { return occurs(id, level, x, depth + 1); };
  return std::visit(Overloaded{[&](const TMeta& m) {
                                 Meta& meta = vars_[m.id];
                                 meta.level = std::min(meta.level, level);
                                 return m.id == id;
                               },
                               [&](const TArray& a) {
                                 sizes_.adjust_level(a.dim, level);
                                 return below(a.elem);
                               },
                               [&](const TRecord& r) {
                                 return std::any_of(r.fields.begin(), r.fields.end(),
                                                    [&](const auto& f) { return below(f.second); });
                               },
                               [&](const TSum& s) {
                                 for (const auto& c : s.constructors) {
                                   if (std::any_of(c.second.begin(), c.second.end(), below))
                                     return true;
                                 }
                                 return false;
                               },
                               [&](const TArrow& a) { return below(a.from) || below(a.to); },
                               [&](const TAbstract& a) {
                                 for (const auto& arg : a.args) {
                                   if (const auto* x = std::get_if<TypePtr>(&arg)) {
                                     if (below(*x)) return true;
                                   } else {
                                     sizes_.adjust_level(std::get<Size>(arg), level);
                                   }
                                 }
                                 return false;
                               },
                               [](const auto&) { return false; }},
                    t->node);
}

bool Inference::merge_metas(core::MetaId a, core::MetaId b, int depth) {
  if (a == b) return true;
  if (a.index > b.index) std::swap(a, b);  // keep the older one
  Meta from = std::move(vars_[b]);
  vars_[b] = Meta{};
  vars_[b].solution = core::make_type(TMeta{a});
  Meta& into = vars_[a];
  into.mask &= from.mask;
  into.level = std::min(into.level, from.level);
  into.regular |= from.regular;
  const bool structured = !into.fields.empty() || !into.constructors.empty() ||
                          !from.fields.empty() || !from.constructors.empty();
  if (into.mask == 0 || (!is_open(into.mask) && structured)) {
    const bool sum = !into.constructors.empty() || !from.constructors.empty();
    comparing_.mismatch.because(
        std::string("Cannot unify a scalar type with type that must be a ") +
        (sum ? "sum type." : "record."));
    return false;
  }
  // Of a sum the first place that says something of it is shown, of a record the last.
  const bool keep = into.range.file && !into.constructors.empty();
  if (from.range.file && !keep) into.range = from.range;
  std::vector<std::pair<TypePtr, TypePtr>> equal;
  for (auto& [name, type] : from.fields) {
    auto [it, added] = into.fields.emplace(name, type);
    if (!added) equal.emplace_back(it->second, type);
  }
  for (auto& [name, types] : from.constructors) {
    auto [it, added] = into.constructors.emplace(name, types);
    if (added) continue;
    if (it->second.size() != types.size()) return false;
    for (size_t i = 0; i < types.size(); i++) equal.emplace_back(it->second[i], types[i]);
  }
  return std::all_of(equal.begin(), equal.end(),
                     [&](const auto& p) { return unify_depth(p.first, p.second, depth + 1); });
}

// Has `t` a size that the program names, but further inside than `level`?
bool Inference::names_too_deep(const TypePtr& t, int level) {
  if (comparing_.any_sizes()) return false;
  bool found = false;
  vars_.map_dims(t, [&](const Size& s) {
    const Size dim = vars_.resolve(s);
    const VarId v = found ? VarId{} : sizes_.first_too_deep(dim, level);
    if (!v.valid() || !vars_[v].named || vars_[v].binder) return dim;
    comparing_.mismatch.because("A size would have to be " + sizes_.size_text(dim) + ", but \"" +
                                vars_.name(v) +
                                "\" is not in scope where it belongs (scope-violation).");
    found = true;
    return dim;
  });
  return found;
}

// t is resolved, and no meta.
bool Inference::bind_meta(core::MetaId id, const TypePtr& t, int depth) {
  Meta meta = vars_[id];
  if (!constrain(t, meta.mask)) {
    comparing_.mismatch.because("Cannot unify " + describe(meta) + " with " + type_text(t) + ".");
    return false;
  }
  if (occurs(id, meta.level, t, 0)) {
    comparing_.mismatch.occurs = true;
    return false;
  }
  if (escapes(t, meta.level)) return false;
  std::vector<std::pair<TypePtr, TypePtr>> equal;
  const bool parts = !meta.fields.empty() || !meta.constructors.empty();
  const TypePtr own = parts && comparing_.any_sizes() ? vars_.fresh_dims(t)
                                                      : t;  // the parts' sizes may differ from t's
  if (parts && comparing_.any_sizes()) equal.emplace_back(own, t);
  if (!meta.fields.empty()) {
    const auto* r = std::get_if<TRecord>(&own->node);
    for (const auto& [name, type] : meta.fields) {
      if (!r) {
        comparing_.mismatch.because("Cannot unify record type, with field \"" + name + "\", with " +
                                    type_text(t) + ".");
        return false;
      }
      auto it = std::find_if(r->fields.begin(), r->fields.end(),
                             [&name = name](const auto& f) { return f.first == name; });
      if (it == r->fields.end()) {
        comparing_.mismatch.because("Cannot unify record types: " + type_text(t) +
                                    " has no field \"" + name + "\".");
        return false;
      }
      equal.emplace_back(type, it->second);
    }
  }
  if (!meta.constructors.empty()) {
    const auto* s = std::get_if<TSum>(&own->node);
    for (const auto& [name, types] : meta.constructors) {
      if (!s) {
        comparing_.mismatch.because("Cannot unify type with constructors, such as #" + name +
                                    ", with " + type_text(t) + ".");
        return false;
      }
      auto it = std::find_if(s->constructors.begin(), s->constructors.end(),
                             [&name = name](const auto& c) { return c.first == name; });
      if (it == s->constructors.end() || it->second.size() != types.size()) {
        comparing_.mismatch.because(
            it == s->constructors.end()
                ? "Cannot unify sum types.  Unshared constructors: #" + name + "."
                : "Arguments of constructor #" + name + " differ in arity.");
        return false;
      }
      for (size_t i = 0; i < types.size(); i++) equal.emplace_back(types[i], it->second[i]);
    }
  }
  TypePtr solution = own;
  if (comparing_.results > 0 && !absorb_unborn(solution, meta.regular)) return false;
  if (names_too_deep(solution, meta.level)) return false;
  // Sizes that have no meaning where the variable stands, and no names, are left open.
  solution = vars_.map_dims(solution, [&](const Size& s) {
    Size dim = vars_.resolve(s);
    if (!sizes_.too_deep(dim, meta.level)) return dim;
    VarId open = vars_.new_flex("d");
    vars_[open].level = meta.level;
    if (dim.kind != Size::kVar) return Size::of_var(open);
    Var& deep = vars_[dim.var];
    if (deep.binder) {
      deep.means = Size::of_var(open);
    } else if (!deep.named && !deep.origin.empty()) {
      vars_.determine(open, OpenSize::kScope, deep.range, dim.var);
    }
    return Size::of_var(open);
  });
  vars_[id].solution = core::without_unique(solution);
  // The parts' sizes are those that their values have.
  const Restore found(comparing_.sizes,
                      comparing_.any_sizes() ? CompareSizes::kAny : CompareSizes::kSame);
  if (own != t) std::rotate(equal.begin(), equal.begin() + 1, equal.end());  // last: t
  return std::all_of(equal.begin(), equal.end(),
                     [&](const auto& p) { return unify_depth(p.first, p.second, depth + 1); });
}

bool Inference::unify(const TypePtr& a, const TypePtr& b) {
  comparing_.mismatch = {};
  return unify_depth(a, b, 0);
}

bool Inference::unify_depth(const TypePtr& ta, const TypePtr& tb, int depth) {
  if (depth > kMaxTypeDepth) return false;
  TypePtr a = vars_.resolve(ta), b = vars_.resolve(tb);
  if (a == b) return true;
  const auto* ma = std::get_if<TMeta>(&a->node);
  const auto* mb = std::get_if<TMeta>(&b->node);
  if (ma && mb) return merge_metas(ma->id, mb->id, depth);
  if (ma) return bind_meta(ma->id, b, depth);
  if (mb) return bind_meta(mb->id, a, depth);
  if (a->node.index() != b->node.index()) return false;
  return std::visit(
      Overloaded{[&](const TPrim& x) { return x.prim == std::get<TPrim>(b->node).prim; },
                 [&](const TParam& x) { return x.id == std::get<TParam>(b->node).id; },
                 [](const TMeta&) { return false; },
                 [&](const TArray& x) {
                   const auto& y = std::get<TArray>(b->node);
                   if (!sizes_.unify_size(x.dim, y.dim)) return false;
                   return unify_depth(x.elem, y.elem, depth + 1);
                 },
                 [&](const TRecord& x) {
                   const auto& y = std::get<TRecord>(b->node);
                   if (std::string why = unshared(x, y); !why.empty()) {
                     comparing_.mismatch.because(std::move(why));
                     return false;
                   }
                   for (size_t i = 0; i < x.fields.size(); i++) {
                     if (unify_depth(x.fields[i].second, y.fields[i].second, depth + 1)) continue;
                     comparing_.mismatch.in_field(x.fields[i].first);
                     return false;
                   }
                   return true;
                 },
                 [&](const TSum& x) {
                   const auto& y = std::get<TSum>(b->node);
                   if (std::string why = unshared(x, y); !why.empty()) {
                     comparing_.mismatch.because(std::move(why));
                     return false;
                   }
                   for (size_t i = 0; i < x.constructors.size(); i++) {
                     const auto& xs = x.constructors[i].second;
                     const auto& ys = y.constructors[i].second;
                     for (size_t j = 0; j < xs.size(); j++) {
                       if (!unify_depth(xs[j], ys[j], depth + 1)) return false;
                     }
                   }
                   return true;
                 },
                 [&](const TArrow& x) { return unify_arrows(x, std::get<TArrow>(b->node), depth); },
                 [&](const TAbstract& x) {
                   const auto& y = std::get<TAbstract>(b->node);
                   if (x.id != y.id || x.args.size() != y.args.size()) return false;
                   for (size_t i = 0; i < x.args.size(); i++) {
                     if (const auto* t = std::get_if<TypePtr>(&x.args[i])) {
                       const Restore lenient(comparing_.sizes, CompareSizes::kAny);
                       if (!unify_depth(*t, std::get<TypePtr>(y.args[i]), depth + 1)) return false;
                     } else {
                       if (!sizes_.unify_size(std::get<Size>(x.args[i]), std::get<Size>(y.args[i])))
                         return false;
                     }
                   }
                   return true;
                 }},
      a->node);
}

// `a` is the type that is expected: what its result existentially has may be any size, while the
// sizes that `b` has there are like no other. For parameters it is the other way around.
bool Inference::unify_arrows(const TArrow& a, const TArrow& b, int depth) {
  if (!unify_depth(b.from, a.from, depth + 1)) return false;
  core::Subst in_a, in_b;
  const uint32_t start = vars_.next_var();
  auto name = [&](VarId v) { return vars_.name(v); };
  for (VarId v : b.ext) {
    const VarId fresh = vars_.new_var(name(v));
    vars_[fresh].vague = vars_[v].vague || vars_[v].dependent;
    vars_[fresh].per_call = vars_[v].on_parameter <= comparing_.results;
    in_b.sizes[v] = Size::of_var(fresh);
  }
  // A parameter that sizes depend on becomes the same new name on both sides.
  if (a.param.valid() || b.param.valid()) {
    const Size fresh = Size::of_var(vars_.new_var(name(a.param.valid() ? a.param : b.param)));
    vars_[fresh.var].named = true;
    if (a.param.valid()) in_a.sizes[a.param] = fresh;
    if (b.param.valid()) in_b.sizes[b.param] = fresh;
  }
  const uint32_t end = vars_.next_var();
  for (uint32_t v = start; v < end; v++) vars_[VarId{v}].unborn = true;
  const uint32_t flex = vars_.next_var();
  for (VarId v : a.ext) in_a.sizes[v] = Size::of_var(vars_.new_flex(name(v)));
  for (uint32_t v = flex; v < vars_.next_var(); v++) vars_[VarId{v}].unborn = true;
  const TypePtr to_a = substitute(vars_.zonk(a.to, Zonk::kKeep), in_a);
  const TypePtr to_b = substitute(vars_.zonk(b.to, Zonk::kKeep), in_b);
  const uint32_t end_of_flex = vars_.next_var();
  comparing_.results++;
  const bool ok = unify_depth(to_a, to_b, depth + 1);
  comparing_.results--;
  for (uint32_t v = start; v < end_of_flex; v++) vars_[VarId{v}].unborn = false;
  return ok;
}

// `t` with the existential sizes of results that are being compared replaced by ones that are any
// size. False if they may not differ from call to call, since the type is `regular`.
bool Inference::absorb_unborn(TypePtr& t, bool regular) {
  std::unordered_set<VarId> vars;
  t = vars_.zonk(t, Zonk::kKeep);
  core::free_sizes(t, vars);
  core::Subst subst;
  bool anonymous = false;
  for (VarId v : vars) {
    if (!vars_[v].unborn) continue;
    const bool vague = vars_[v].vague;
    anonymous |= regular && (!vague || vars_[v].per_call) && !comparing_.any_sizes();
    const VarId any = vars_.new_var(vars_.name(v));
    vars_[any].level = 0;
    vars_[any].absorbs = true;
    vars_[any].vague = vague;
    subst.sizes[v] = Size::of_var(any);
  }
  if (anonymous) {
    comparing_.mismatch.because(
        "Cannot instantiate a type parameter with a type containing anonymous sizes: " +
        type_text(t) + ".\nThey may differ from one call of the function to the next.");
    return false;
  }
  if (!subst.sizes.empty()) t = core::substitute(t, subst);
  return true;
}

std::string Inference::type_text(const TypePtr& t) {
  const TypePtr known = vars_.zonk(t, Zonk::kKeep);
  const auto* meta = std::get_if<core::TMeta>(&known->node);
  if (meta && !comparing_.mismatch.occurs) return describe(vars_[meta->id]);
  core::Names names = vars_.names();
  names.metas = comparing_.mismatch.occurs;
  names.abstract_names = &vars_.abstract_names();
  return core::str(known, names);
}

std::string Inference::difference(const TypePtr& expected, const TypePtr& actual) {
  return comparing_.mismatch.str() + compared(type_text(expected), type_text(actual));
}

bool Inference::unify_or_error(const TypePtr& expected, const TypePtr& actual,
                               const SourceRange& range, const std::string& what) {
  if (reports_.failed()) return false;
  if (unify(expected, actual)) return true;
  reports_.error(range, what + difference(expected, actual), comparing_.mismatch.anchor);
  return false;
}

}  // namespace kenaz::check

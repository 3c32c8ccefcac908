// Unification of types.
#include <algorithm>

#include "kernels/futhark/check/checker.h"
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

VarId Checker::new_var(const std::string& name) {
  VarId v{next_var()};
  vars_.emplace_back();
  vars_.back().level = fn_ ? fn_->level : 0;
  out_.var_names.push_back(name);
  return v;
}

// A size of a value that is known only when the value is. For messages it is "the `origin`".
VarId Checker::new_unknown(const std::string& origin, const SourceRange& range) {
  const VarId v = new_var("d");
  vars_[v.index].origin = origin;
  vars_[v.index].range = range;
  return v;
}

VarId Checker::new_flex(const std::string& name) {
  VarId v = new_var(name);
  make_flex(v);
  return v;
}

void Checker::determine(VarId size, OpenSize::Kind kind, const SourceRange& range, VarId of) {
  fn_->open_sizes.push_back({kind, size, of, range});
}

void Checker::make_flex(VarId v) { vars_[v.index].flex = true; }

TyVarId Checker::new_tyvar(const std::string& name, syntax::Liftedness lifted) {
  tyvar_names_.push_back(name);
  tyvar_lifted_.push_back(lifted);
  tyvar_level_.push_back(fn_ ? fn_->level : 0);
  deepest_tyvar_ = std::max(deepest_tyvar_, tyvar_level_.back());
  return TyVarId{static_cast<uint32_t>(tyvar_names_.size() - 1)};
}

TypePtr Checker::new_meta(TypeMask mask) {
  core::MetaId id{static_cast<uint32_t>(metas_.size())};
  Meta m;
  m.mask = mask;
  m.level = fn_ ? fn_->level : 0;
  metas_.push_back(std::move(m));
  return core::make_type(TMeta{id});
}

TypePtr Checker::resolve(TypePtr t) {
  while (const auto* m = std::get_if<TMeta>(&t->node)) {
    const TypePtr& solution = metas_[m->id.index].solution;
    if (!solution) break;
    t = solution;
  }
  return t;
}

Size Checker::resolve(const Size& s) {
  Size r = s;
  while (r.kind == Size::kVar && r.var.index < vars_.size() && vars_[r.var.index].solved) {
    r = vars_[r.var.index].solution;
  }
  if (r.kind == Size::kExp) return zonk(r, Zonk::kKeep);
  return r;
}

// ---- types

// Types are shared graphs whose written form can be exponentially larger, and everything here walks
// the written form. So it is bounded: `budget` counts down.
bool Checker::small_type(const TypePtr& type, int& budget, int depth) {
  if (--budget < 0 || depth > kMaxTypeDepth) return false;
  TypePtr t = resolve(type);
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

void Checker::check_size_of_type(const TypePtr& t, const SourceRange& range) {
  int budget = kMaxTypeNodes;
  if (small_type(t, budget, 0)) return;
  reports_.error(range,
                 budget < 0 ? "The type of this is too large." : "This type is nested too deeply.");
}

// Also lowers the level of everything in `type` to `level`.
bool Checker::occurs(core::MetaId id, int level, const TypePtr& type, int depth) {
  if (depth > kMaxTypeDepth) return true;
  TypePtr t = resolve(type);
  auto below = [&](const TypePtr& x) { return occurs(id, level, x, depth + 1); };
  return std::visit(Overloaded{[&](const TMeta& m) {
                                 Meta& meta = metas_[m.id.index];
                                 meta.level = std::min(meta.level, level);
                                 return m.id == id;
                               },
                               [&](const TArray& a) {
                                 adjust_level(a.dim, level);
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
                                     adjust_level(std::get<Size>(arg), level);
                                   }
                                 }
                                 return false;
                               },
                               [](const auto&) { return false; }},
                    t->node);
}

bool Checker::merge_metas(core::MetaId a, core::MetaId b, int depth) {
  if (a == b) return true;
  if (a.index > b.index) std::swap(a, b);  // keep the older one
  Meta from = std::move(metas_[b.index]);
  metas_[b.index] = Meta{};
  metas_[b.index].solution = core::make_type(TMeta{a});
  Meta& into = metas_[a.index];
  into.mask &= from.mask;
  into.level = std::min(into.level, from.level);
  into.regular |= from.regular;
  const bool structured = !into.fields.empty() || !into.constructors.empty() ||
                          !from.fields.empty() || !from.constructors.empty();
  if (into.mask == 0 || (!is_open(into.mask) && structured)) {
    const bool sum = !into.constructors.empty() || !from.constructors.empty();
    mismatch_.because(std::string("Cannot unify a scalar type with type that must be a ") +
                      (sum ? "sum type." : "record."));
    return false;
  }
  if (!from.range.file) from.range = into.range;
  into.range = from.range;
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

// t is resolved, and no meta.
bool Checker::bind_meta(core::MetaId id, const TypePtr& t, int depth) {
  Meta meta = metas_[id.index];
  if (!constrain(t, meta.mask)) {
    mismatch_.because("Cannot unify " + describe_meta(meta) + " with " + type_text(t) + ".");
    return false;
  }
  if (occurs(id, meta.level, t, 0)) {
    mismatch_.occurs = true;
    return false;
  }
  if (escapes(t, meta.level)) return false;
  std::vector<std::pair<TypePtr, TypePtr>> equal;
  const bool parts = !meta.fields.empty() || !meta.constructors.empty();
  const TypePtr own =
      parts && any_sizes_ ? fresh_dims(t) : t;  // the parts' sizes may differ from t's
  if (parts && any_sizes_) equal.emplace_back(own, t);
  if (!meta.fields.empty()) {
    const auto* r = std::get_if<TRecord>(&own->node);
    for (const auto& [name, type] : meta.fields) {
      if (!r) {
        mismatch_.because("Cannot unify record type, with field \"" + name + "\", with " +
                          type_text(t) + ".");
        return false;
      }
      auto it = std::find_if(r->fields.begin(), r->fields.end(),
                             [&name = name](const auto& f) { return f.first == name; });
      if (it == r->fields.end()) {
        mismatch_.because("Cannot unify record types: " + type_text(t) + " has no field \"" + name +
                          "\".");
        return false;
      }
      equal.emplace_back(type, it->second);
    }
  }
  if (!meta.constructors.empty()) {
    const auto* s = std::get_if<TSum>(&own->node);
    for (const auto& [name, types] : meta.constructors) {
      if (!s) {
        mismatch_.because("Cannot unify type with constructors, such as #" + name + ", with " +
                          type_text(t) + ".");
        return false;
      }
      auto it = std::find_if(s->constructors.begin(), s->constructors.end(),
                             [&name = name](const auto& c) { return c.first == name; });
      if (it == s->constructors.end() || it->second.size() != types.size()) {
        mismatch_.because(it == s->constructors.end()
                              ? "Cannot unify sum types.  Unshared constructors: #" + name + "."
                              : "Arguments of constructor #" + name + " differ in arity.");
        return false;
      }
      for (size_t i = 0; i < types.size(); i++) equal.emplace_back(types[i], it->second[i]);
    }
  }
  TypePtr solution = own;
  if (comparing_results_ > 0 && !absorb_unborn(solution, meta.regular)) return false;
  // Sizes that have no meaning where the variable stands are left open.
  solution = map_dims(solution, [&](const Size& s) {
    Size dim = resolve(s);
    if (!too_deep(dim, meta.level)) return dim;
    VarId open = new_flex("d");
    vars_[open.index].level = meta.level;
    if (dim.kind != Size::kVar) return Size::of_var(open);
    Var& deep = vars_[dim.var.index];
    if (deep.binder) {
      deep.means = Size::of_var(open);
    } else if (!deep.named && !deep.origin.empty()) {
      determine(open, OpenSize::kScope, deep.range, dim.var);
    }
    return Size::of_var(open);
  });
  metas_[id.index].solution = core::without_unique(solution);
  if (own != t) std::rotate(equal.begin(), equal.begin() + 1, equal.end());  // last: t
  return std::all_of(equal.begin(), equal.end(),
                     [&](const auto& p) { return unify_depth(p.first, p.second, depth + 1); });
}

bool Checker::unify(const TypePtr& a, const TypePtr& b) {
  mismatch_ = {};
  return unify_depth(a, b, 0);
}

bool Checker::unify_depth(const TypePtr& ta, const TypePtr& tb, int depth) {
  if (depth > kMaxTypeDepth) return false;
  TypePtr a = resolve(ta), b = resolve(tb);
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
                   if (!unify_size(x.dim, y.dim)) return false;
                   return unify_depth(x.elem, y.elem, depth + 1);
                 },
                 [&](const TRecord& x) {
                   const auto& y = std::get<TRecord>(b->node);
                   if (std::string why = unshared(x, y); !why.empty()) {
                     mismatch_.because(std::move(why));
                     return false;
                   }
                   for (size_t i = 0; i < x.fields.size(); i++) {
                     if (unify_depth(x.fields[i].second, y.fields[i].second, depth + 1)) continue;
                     mismatch_.in_field(x.fields[i].first);
                     return false;
                   }
                   return true;
                 },
                 [&](const TSum& x) {
                   const auto& y = std::get<TSum>(b->node);
                   if (std::string why = unshared(x, y); !why.empty()) {
                     mismatch_.because(std::move(why));
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
                       const Restore lenient(any_sizes_, true);
                       if (!unify_depth(*t, std::get<TypePtr>(y.args[i]), depth + 1)) return false;
                     } else {
                       if (!unify_size(std::get<Size>(x.args[i]), std::get<Size>(y.args[i])))
                         return false;
                     }
                   }
                   return true;
                 }},
      a->node);
}

bool Checker::unify_or_error(const TypePtr& expected, const TypePtr& actual,
                             const SourceRange& range, const std::string& what,
                             const syntax::Exp* source) {
  if (reports_.failed()) return false;
  if (unify(expected, actual)) return true;
  std::string message = what + mismatch_.str();
  message += compared(type_text(expected), type_text(actual));
  if (source) message += suggest_value_of_type(expected, actual, *source);
  reports_.error(range, message, mismatch_.anchor);
  return false;
}

}  // namespace kenaz::check

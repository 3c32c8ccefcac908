// What is known about a type besides what it is unified with: that it is one of some primitive
// types, that it has no functions inside, that it has a field or a constructor.
#include <algorithm>

#include "kernels/futhark/check/checker.h"
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

static TypeMask mask_of(PrimType p) { return 1u << static_cast<int>(p); }

namespace {

/// What an argument for a type parameter may be.
TypeMask mask_of(syntax::Liftedness lifted) {
  switch (lifted) {
    case syntax::Liftedness::kFullyLifted: return kMaskAny;
    case syntax::Liftedness::kSizeLifted: return kMaskData;
    case syntax::Liftedness::kUnlifted: return kMaskElement;
  }
  return kMaskAny;
}

/// Whether a type of which only that is known may stand where types in `mask` may.
bool fits(syntax::Liftedness lifted, TypeMask mask) {
  switch (lifted) {
    case syntax::Liftedness::kFullyLifted: return (mask & kWithFunctions) != 0;
    case syntax::Liftedness::kSizeLifted: return (mask & kOfAnySize) != 0;
    case syntax::Liftedness::kUnlifted: return true;
  }
  return true;
}

/// Type parameters that occur in the type.
void free_params(const TypePtr& t, std::unordered_set<TyVarId>& out) {
  std::visit(Overloaded{[&](const TParam& p) { out.insert(p.id); },
                        [&](const TArray& a) { free_params(a.elem, out); },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) free_params(f.second, out);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            for (const auto& p : c.second) free_params(p, out);
                          }
                        },
                        [&](const TArrow& a) {
                          free_params(a.from, out);
                          free_params(a.to, out);
                        },
                        [&](const TAbstract& a) {
                          for (const auto& x : a.args) {
                            if (const auto* arg = std::get_if<TypePtr>(&x)) free_params(*arg, out);
                          }
                        },
                        [](const auto&) {}},
             t->node);
}

}  // namespace

TypeMask Checker::instance_mask(TyVarId t) const { return mask_of(tyvar_lifted_[t.index]); }

syntax::Liftedness Checker::liftedness(const TypePtr& type) {
  const TypePtr t = resolve(type);
  auto out = syntax::Liftedness::kUnlifted;
  auto part = [&](const TypePtr& x) { out = std::max(out, liftedness(x)); };
  std::visit(Overloaded{[&](const TArrow&) { out = syntax::Liftedness::kFullyLifted; },
                        [&](const TParam& p) { out = tyvar_lifted_[p.id.index]; },
                        [&](const TArray& a) { part(a.elem); },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) part(f.second);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            std::for_each(c.second.begin(), c.second.end(), part);
                          }
                        },
                        [&](const TAbstract& a) { out = abstract_lifted_[a.id.index]; },
                        [](const auto&) {}},
             t->node);
  return out;
}

/// Whether this type is in an open mask; sees to it that its type variables are, too. Why it is not
/// stands in mismatch_.
bool Checker::fits(const TypePtr& t, TypeMask mask) {
  auto part = [&](const TypePtr& x) { return constrain(x, mask); };
  auto lifted = [&](syntax::Liftedness l) {
    if (check::fits(l, mask)) return true;
    mismatch_.function = l == syntax::Liftedness::kFullyLifted;
    if (!mismatch_.function) {
      mismatch_.because("The type " + type_text(t) +
                        " is lifted: its values differ in size, so it is not allowed as the type "
                        "of an array element\nor where a type parameter is not declared with '~.");
    }
    return false;
  };
  return std::visit(
      Overloaded{[&](const TArrow&) {
                   if (!(mask & kWithoutEquality)) {
                     mismatch_.because("A function does not support equality.");
                   } else {
                     mismatch_.function = !(mask & kWithFunctions);
                   }
                   return (mask & kWithFunctions) != 0;
                 },
                 [&](const TParam& p) { return lenient_ || lifted(tyvar_lifted_[p.id.index]); },
                 [&](const TArray& a) { return part(a.elem); },
                 [&](const TRecord& r) {
                   return std::all_of(r.fields.begin(), r.fields.end(),
                                      [&](const auto& f) { return part(f.second); });
                 },
                 [&](const TSum& s) {
                   return std::all_of(s.constructors.begin(), s.constructors.end(),
                                      [&](const auto& c) {
                                        return std::all_of(c.second.begin(), c.second.end(), part);
                                      });
                 },
                 [&](const TAbstract& a) {
                   if (!lenient_ && !lifted(abstract_lifted_[a.id.index])) return false;
                   return std::all_of(a.args.begin(), a.args.end(), [&](const auto& x) {
                     const auto* arg = std::get_if<TypePtr>(&x);
                     return !arg || part(*arg);
                   });
                 },
                 [](const auto&) { return true; }},
      t->node);
}

/// Whether `t` mentions a type parameter of a definition inside the one that a type variable of
/// this level belongs to: that would be a type that means nothing there.
bool Checker::escapes(const TypePtr& t, int level) {
  if (deepest_tyvar_ <= level) return false;
  std::unordered_set<TyVarId> params;
  free_params(zonk(t, Zonk::kKeep), params);
  const auto inner = std::find_if(params.begin(), params.end(),
                                  [&](TyVarId p) { return tyvar_level_[p.index] > level; });
  if (inner == params.end()) return false;
  mismatch_.because("The type parameter \"" + tyvar_names_[inner->index] +
                    "\" of an inner function means nothing outside of it, so it cannot be part of "
                    "a type there.");
  mismatch_.anchor = "scope-violation";
  return true;
}

bool Checker::constrain(const TypePtr& type, TypeMask mask) {
  if (mask == kMaskAny) return true;
  TypePtr t = resolve(type);
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    Meta& meta = metas_[m->id.index];
    meta.mask &= mask;
    if (is_open(meta.mask)) return true;
    return meta.mask != 0 && meta.fields.empty() && meta.constructors.empty();
  }
  if (is_open(mask)) return fits(t, mask);
  if (const auto* p = std::get_if<TPrim>(&t->node)) return (mask_of(p->prim) & mask) != 0;
  if (std::holds_alternative<TParam>(t->node) || std::holds_alternative<TAbstract>(t->node)) {
    return lenient_;
  }
  return false;
}

// ---- structure of types that are not known yet

TypePtr Checker::field_of(const TypePtr& record, const std::string& field,
                          const SourceRange& range) {
  TypePtr t = resolve(record);
  if (const auto* r = std::get_if<TRecord>(&t->node)) {
    for (const auto& [name, type] : r->fields) {
      if (name == field) return type;
    }
    reports_.error(range, "Attempt to access field \"" + field + "\" of value of type " +
                              type_text(t) + "." + suggest_field(field, *r));
    return new_meta();
  }
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    auto it = metas_[m->id.index].fields.find(field);
    if (it != metas_[m->id.index].fields.end()) return it->second;
    if (is_open(metas_[m->id.index].mask) && metas_[m->id.index].constructors.empty()) {
      TypePtr type = new_meta();
      Meta& meta = metas_[m->id.index];
      meta.fields[field] = type;
      meta.range = range;
      return type;
    }
  }
  reports_.error(
      range, "Attempt to access field \"" + field + "\" of value of type " + type_text(t) + ".");
  return new_meta();
}

bool Checker::has_constructor(const TypePtr& sum, const std::string& name,
                              const std::vector<TypePtr>& payload, const SourceRange& range) {
  TypePtr t = resolve(sum);
  const std::vector<TypePtr>* known = nullptr;
  if (const auto* s = std::get_if<TSum>(&t->node)) {
    for (const auto& [cname, types] : s->constructors) {
      if (cname == name) known = &types;
    }
  } else if (const auto* m = std::get_if<TMeta>(&t->node)) {
    Meta& meta = metas_[m->id.index];
    if (is_open(meta.mask) && meta.fields.empty()) {
      auto [it, added] = meta.constructors.emplace(name, payload);
      if (added) {
        meta.range = range;
        return true;
      }
      known = &it->second;
    }
  }
  if (!known || known->size() != payload.size()) return false;
  std::vector<TypePtr> types = *known;  // unify may move the metas
  for (size_t i = 0; i < types.size(); i++) {
    if (!unify(types[i], payload[i])) return false;
  }
  return true;
}

}  // namespace kenaz::check

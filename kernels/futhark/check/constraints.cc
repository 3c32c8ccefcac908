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

/// What a type argument for `t` may be.
TypeMask Checker::instance_mask(TyVarId t) const {
  return tyvar_lifted_[t.index] == syntax::Liftedness::kFullyLifted ? kMaskAny : kMaskData;
}

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

/// Sees to it that there are no functions inside; type variables become data, too.
bool Checker::is_data(const TypePtr& t) {
  auto data = [&](const TypePtr& x) { return constrain(x, kMaskData); };
  return std::visit(
      Overloaded{[](const TArrow&) { return false; },
                 [&](const TParam& p) { return lenient_ || instance_mask(p.id) == kMaskData; },
                 [&](const TArray& a) { return data(a.elem); },
                 [&](const TRecord& r) {
                   return std::all_of(r.fields.begin(), r.fields.end(),
                                      [&](const auto& f) { return data(f.second); });
                 },
                 [&](const TSum& s) {
                   return std::all_of(s.constructors.begin(), s.constructors.end(),
                                      [&](const auto& c) {
                                        return std::all_of(c.second.begin(), c.second.end(), data);
                                      });
                 },
                 [&](const TAbstract& a) {
                   if (abstract_lifted_[a.id.index] == syntax::Liftedness::kFullyLifted) {
                     return false;
                   }
                   return std::all_of(a.args.begin(), a.args.end(), [&](const auto& x) {
                     const auto* arg = std::get_if<TypePtr>(&x);
                     return !arg || data(*arg);
                   });
                 },
                 [](const auto&) { return true; }},
      t->node);
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
  if (is_open(mask)) {
    if (is_data(t)) return true;
    mismatch_.function = true;
    return false;
  }
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
    error(range,
          "Attempt to access field \"" + field + "\" of value of type " + type_text(t) + ".");
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
  error(range, "Attempt to access field \"" + field + "\" of value of type " + type_text(t) + ".");
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

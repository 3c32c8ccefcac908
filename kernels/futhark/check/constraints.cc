// What is known about a type besides what it is unified with: that it is one of some primitive
// types, that it has no functions inside, that it has a field or a constructor.
#include <algorithm>

#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/mismatch.h"
#include "kernels/futhark/check/suggest.h"
#include "kernels/futhark/core/parts.h"
#include "kernels/futhark/core/type_util.h"
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
  if (const auto* p = std::get_if<TParam>(&t->node)) out.insert(p->id);
  core::for_each_part(*t, [&](const TypePtr& part) { free_params(part, out); });
}

}  // namespace

/// Whether this type is in an open mask; sees to it that its type variables are, too. Why it is not
/// stands in comparing_.mismatch.
bool Inference::fits(const TypePtr& t, TypeMask mask) {
  auto part = [&](const TypePtr& x) { return constrain(x, mask); };
  auto lifted = [&](syntax::Liftedness l) {
    if (check::fits(l, mask)) return true;
    comparing_.mismatch.function = l == syntax::Liftedness::kFullyLifted;
    if (!comparing_.mismatch.function) {
      comparing_.mismatch.because(
          "The type " + type_text(t) +
          " is lifted: its values differ in size, so it is not allowed as the type "
          "of an array element\nor where a type parameter is not declared with '~.");
    }
    return false;
  };
  return std::visit(
      Overloaded{[&](const TArrow&) {
                   if (!(mask & kWithoutEquality)) {
                     comparing_.mismatch.because("A function does not support equality.");
                   } else {
                     comparing_.mismatch.function = !(mask & kWithFunctions);
                   }
                   return (mask & kWithFunctions) != 0;
                 },
                 [&](const TParam& p) { return comparing_.lenient || lifted(vars_.lifted(p.id)); },
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
                   if (!comparing_.lenient && !lifted(vars_.lifted(a.id))) return false;
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
bool Inference::escapes(const TypePtr& t, int level) {
  if (vars_.deepest_tyvar() <= level) return false;
  std::unordered_set<TyVarId> params;
  free_params(vars_.zonk(t, Zonk::kKeep), params);
  const auto inner =
      std::find_if(params.begin(), params.end(), [&](TyVarId p) { return vars_.level(p) > level; });
  if (inner == params.end()) return false;
  comparing_.mismatch.because(
      "The type parameter \"" + vars_.name(*inner) +
      "\" of an inner function means nothing outside of it, so it cannot be part of "
      "a type there.");
  comparing_.mismatch.anchor = "scope-violation";
  return true;
}

bool Inference::constrain(const TypePtr& type, TypeMask mask) {
  if (mask == kMaskAny) return true;
  TypePtr t = vars_.resolve(type);
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    Meta& meta = vars_[m->id];
    meta.mask &= mask;
    if (is_open(meta.mask)) return true;
    return meta.mask != 0 && meta.fields.empty() && meta.constructors.empty();
  }
  if (is_open(mask)) return fits(t, mask);
  if (const auto* p = std::get_if<TPrim>(&t->node)) return (mask_of(p->prim) & mask) != 0;
  if (std::holds_alternative<TParam>(t->node) || std::holds_alternative<TAbstract>(t->node)) {
    return comparing_.lenient;
  }
  return false;
}

// ---- structure of types that are not known yet

TypePtr Inference::field_of(const TypePtr& record, const std::string& field,
                            const SourceRange& range) {
  TypePtr t = vars_.resolve(record);
  if (const auto* r = std::get_if<TRecord>(&t->node)) {
    for (const auto& [name, type] : r->fields) {
      if (name == field) return type;
    }
    reports_.error(range, "Attempt to access field \"" + field + "\" of value of type " +
                              type_text(t) + "." + suggest_field(field, *r));
    return vars_.new_meta();
  }
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    auto it = vars_[m->id].fields.find(field);
    if (it != vars_[m->id].fields.end()) return it->second;
    if (is_open(vars_[m->id].mask) && vars_[m->id].constructors.empty()) {
      TypePtr type = vars_.new_meta();
      Meta& meta = vars_[m->id];
      meta.fields[field] = type;
      meta.range = range;
      return type;
    }
  }
  reports_.error(
      range, "Attempt to access field \"" + field + "\" of value of type " + type_text(t) + ".");
  return vars_.new_meta();
}

std::string Inference::constructor_error(const TypePtr& sum, const std::string& name,
                                         const std::vector<TypePtr>& payload) {
  const TypePtr t = vars_.resolve(sum);
  const auto* m = std::get_if<TMeta>(&t->node);
  if (m && vars_[m->id].constructors.count(name)) {
    return "Constructor #" + name + " has other arguments here than elsewhere in this type." +
           comparing_.mismatch.str();
  }
  return constructor_mismatch(t, name, payload, [this](const TypePtr& x) { return type_text(x); }) +
         comparing_.mismatch.str();
}

bool Inference::has_constructor(const TypePtr& sum, const std::string& name,
                                const std::vector<TypePtr>& payload, const SourceRange& range) {
  TypePtr t = vars_.resolve(sum);
  const std::vector<TypePtr>* known = nullptr;
  if (const auto* s = std::get_if<TSum>(&t->node)) {
    for (const auto& [cname, types] : s->constructors) {
      if (cname == name) known = &types;
    }
  } else if (const auto* m = std::get_if<TMeta>(&t->node)) {
    Meta& meta = vars_[m->id];
    if (is_open(meta.mask) && meta.fields.empty()) {
      auto [it, added] = meta.constructors.emplace(name, payload);
      if (added) {
        if (!meta.range.file) meta.range = range;  // the first place that asked for one
        return true;
      }
      known = &it->second;
    }
  }
  if (!known) return false;
  if (known->size() != payload.size()) {
    if (std::holds_alternative<TSum>(t->node)) return false;
    comparing_.mismatch.because("Arguments of constructor #" + name +
                                " differ in arity: " + std::to_string(payload.size()) + " here, " +
                                std::to_string(known->size()) + " elsewhere.");
    return false;
  }
  std::vector<TypePtr> types = *known;  // unify may move the metas
  for (size_t i = 0; i < types.size(); i++) {
    if (!unify(types[i], payload[i])) return false;
  }
  return true;
}

}  // namespace kenaz::check

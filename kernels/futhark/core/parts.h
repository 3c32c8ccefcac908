// What a type is made of.
#pragma once

#include <utility>

#include "kernels/futhark/core/type.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

/// Calls f(TypePtr) for each type that stands directly in this one, from left to right.
template <class F>
void for_each_part(const Type& t, F&& f) {
  std::visit(Overloaded{[&](const TArray& a) { f(a.elem); },
                        [&](const TRecord& r) {
                          for (const auto& field : r.fields) f(field.second);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            for (const auto& p : c.second) f(p);
                          }
                        },
                        [&](const TArrow& a) {
                          f(a.from);
                          f(a.to);
                        },
                        [&](const TAbstract& a) {
                          for (const auto& arg : a.args) {
                            if (const auto* x = std::get_if<TypePtr>(&arg)) f(*x);
                          }
                        },
                        [](const auto&) {}},
             t.node);
}

/// Whether both are written in the same way, by the same expression if it is one.
inline bool same_repr(const Size& a, const Size& b) {
  return a.kind == b.kind && a.constant == b.constant && a.var == b.var && a.exp == b.exp;
}

/// `t` with type(part) and size(part) instead of what stands directly in it, from left to right;
/// `t` itself if nothing changes.
template <class OnType, class OnSize>
TypePtr map_parts(const TypePtr& t, OnType&& type, OnSize&& size) {
  bool changed = false;
  // Calls copy() before the first part that changes is put in its place.
  auto put = [&changed](const TypePtr& from, TypePtr to, auto&& copy, auto&& place) {
    if (to == from) return;
    if (!std::exchange(changed, true)) copy();
    place() = std::move(to);
  };
  return std::visit(
      Overloaded{[&](const TArray& a) {
                   Size dim = size(a.dim);
                   TypePtr elem = type(a.elem);
                   if (elem == a.elem && same_repr(dim, a.dim)) return t;
                   return make_type(TArray{std::move(dim), std::move(elem)}, t->unique);
                 },
                 [&](const TRecord& r) {
                   TRecord out;
                   for (size_t i = 0; i < r.fields.size(); i++) {
                     const TypePtr& from = r.fields[i].second;
                     put(
                         from, type(from), [&] { out = r; },
                         [&]() -> TypePtr& { return out.fields[i].second; });
                   }
                   return changed ? make_type(std::move(out), t->unique) : t;
                 },
                 [&](const TSum& s) {
                   TSum out;
                   for (size_t i = 0; i < s.constructors.size(); i++) {
                     const auto& payload = s.constructors[i].second;
                     for (size_t j = 0; j < payload.size(); j++) {
                       put(
                           payload[j], type(payload[j]), [&] { out = s; },
                           [&]() -> TypePtr& { return out.constructors[i].second[j]; });
                     }
                   }
                   return changed ? make_type(std::move(out), t->unique) : t;
                 },
                 [&](const TArrow& a) {
                   TypePtr from = type(a.from), to = type(a.to);
                   if (from == a.from && to == a.to) return t;
                   return make_type(
                       TArrow{a.param, a.consumes, std::move(from), a.ext, std::move(to)},
                       t->unique);
                 },
                 [&](const TAbstract& a) {
                   TAbstract out{a.id, {}};
                   for (const auto& arg : a.args) {
                     if (const auto* x = std::get_if<TypePtr>(&arg)) {
                       TypePtr to = type(*x);
                       changed |= to != *x;
                       out.args.emplace_back(std::move(to));
                     } else {
                       Size to = size(std::get<Size>(arg));
                       changed |= !same_repr(to, std::get<Size>(arg));
                       out.args.emplace_back(std::move(to));
                     }
                   }
                   return changed ? make_type(std::move(out), t->unique) : t;
                 },
                 [&](const auto&) { return t; }},
      t->node);
}

}  // namespace kenaz::core

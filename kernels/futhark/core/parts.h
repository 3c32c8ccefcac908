// What a type is made of.
#pragma once

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

}  // namespace kenaz::core

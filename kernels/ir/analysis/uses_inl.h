// Templates of uses.h.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/ir/visit.h"

namespace kenaz::ir {

namespace uses_detail {
template <class F>
void atom_use(const Atom& a, F&& f) {
  if (!a.is_const()) f(a.var());
}
template <class F>
void atom_use(VarId v, F&& f) {
  f(v);
}
template <class F>
void type_uses(const Type& t, F&& f) {
  for (const Atom& d : t.dims) atom_use(d, f);
}
}  // namespace uses_detail

template <class F>
void for_each_use(const Program& p, const Stm& s, F&& f) {
  using namespace uses_detail;
  for (VarId v : s.pat) {
    type_uses(p.type_of(v), f);
    if (const auto& place = p.vars[v.index].place) {
      f(place->memory);
      atom_use(place->start, f);
    }
  }
  for (VarId v : s.certs) f(v);
  visit_operands(s.exp, [&](const auto& a) { atom_use(a, f); });
  visit_types(s.exp, [&](const Type& t) { type_uses(t, f); });
  visit_binders(s.exp, [&](VarId v) { type_uses(p.type_of(v), f); });
  if (const auto* l = std::get_if<ELoop>(&s.exp)) {
    if (const auto* w = std::get_if<LoopWhile>(&l->form)) f(w->cond);
  }
  visit_bodies(s.exp, [&](const Body& b) { for_each_use(p, b, f); });
}

template <class F>
void for_each_use(const Program& p, const Body& b, F&& f) {
  for (const Stm& s : b.stms) for_each_use(p, s, f);
  for (const Atom& a : b.results) uses_detail::atom_use(a, f);
}

template <class F>
void for_each_bound(const Stm& s, F&& f) {
  for (VarId v : s.pat) f(v);
  visit_binders(s.exp, f);
  visit_bodies(s.exp, [&](const Body& b) { for_each_bound(b, f); });
}

template <class F>
void for_each_bound(const Body& b, F&& f) {
  for (const Stm& s : b.stms) for_each_bound(s, f);
}

template <class Stms, class F>
void for_each_needed(const Program& p, Stms& stms, VarSet& needed, F&& f) {
  for (size_t i = stms.size(); i-- > 0;) {
    auto& s = stms[i];
    if (std::none_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return needed.contains(v); })) {
      continue;
    }
    f(s);
    for_each_use(p, s, [&](VarId v) { needed.insert(v); });
  }
}

template <class F>
void keep_needed(const Program& p, Body& b, F&& f) {
  VarSet needed;
  for (const Atom& r : b.results) {
    if (!r.is_const()) needed.insert(r.var());
  }
  std::vector<Stm*> kept;
  for_each_needed(p, b.stms, needed, [&](Stm& s) {
    f(s, std::as_const(needed));
    kept.push_back(&s);
  });
  std::vector<Stm> stms;
  for (size_t k = kept.size(); k-- > 0;) stms.push_back(std::move(*kept[k]));
  b.stms = std::move(stms);
}

}  // namespace kenaz::ir

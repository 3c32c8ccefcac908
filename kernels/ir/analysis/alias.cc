#include "kernels/ir/analysis/alias.h"

#include <numeric>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {

Aliases::Aliases(const Program& p) : program_(p), parent_(p.vars.size()) {
  std::iota(parent_.begin(), parent_.end(), 0u);
  visit_bodies(p, [&](const Body& b) { body(p, b); });
}

uint32_t Aliases::of(VarId v) const {
  uint32_t x = v.index;
  if (x >= parent_.size()) return x;
  while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
  return x;
}

void Aliases::join(VarId a, const Atom& b) {
  if (b.is_const() || program_.type_of(a).is_scalar() || program_.type_of(b).is_scalar()) return;
  parent_[of(a)] = of(b.var());
}

void Aliases::body(const Program& p, const Body& b) {
  for (const Stm& s : b.stms) {
    visit_bodies(s.exp, [&](const Body& inner) { body(p, inner); });
    for (const VarId v : s.pat) {
      if (const auto& place = p.vars[v.index].place) join(v, place->memory);
    }
    visit_branches(s.exp, [&](const Body& inner) {
      for (size_t k = 0; k < s.pat.size(); k++) join(s.pat[k], inner.results[k]);
    });
    const auto rows = [&](const std::vector<VarId>& inputs, const Lambda& map) {
      for (size_t k = 0; k < inputs.size(); k++) join(map.params[k], inputs[k]);
    };
    if (const auto of = viewed(s.exp)) {
      join(s.pat[0], *of);
    } else if (const auto* e = std::get_if<EUpdate>(&s.exp)) {
      join(s.pat[0], e->array);
    } else if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      for (size_t k = 0; k < s.pat.size(); k++) {
        join(e->params[k].var, e->params[k].init);
        join(e->params[k].var, e->body.results[k]);
        join(s.pat[k], e->params[k].var);
      }
    } else if (const auto* e = std::get_if<ECall>(&s.exp)) {
      for (const Atom& a : e->args) {
        for (const VarId v : s.pat) join(v, a);
      }
    } else if (const auto* e = std::get_if<ESoac>(&s.exp)) {
      rows(e->inputs, e->map);
    } else if (const auto* e = std::get_if<EPack>(&s.exp)) {
      rows(e->inputs, e->map);
    } else if (const auto* e = std::get_if<ESort>(&s.exp)) {
      rows(e->inputs, e->map);
    } else if (const auto* e = std::get_if<EScatter>(&s.exp)) {
      rows(e->inputs, e->map);
      for (size_t k = 0; k < s.pat.size(); k++) join(s.pat[k], e->dests[k].array);
    } else if (const auto* e = std::get_if<EHist>(&s.exp)) {
      rows(e->inputs, e->map);
      size_t k = 0;
      for (const auto& op : e->ops) {
        for (const VarId d : op.dests) join(s.pat[k++], d);
      }
    } else if (const auto* e = std::get_if<ESeg>(&s.exp)) {
      size_t k = operands_of(*e);
      for (const auto& w : e->writes) {
        for (const VarId d : w.dests) join(s.pat[k++], d);
      }
    }
  }
}

std::optional<Atom> viewed(const Exp& exp) {
  if (const auto* e = std::get_if<EAtom>(&exp)) return e->atom;
  if (const auto* e = std::get_if<EIndex>(&exp)) return Atom(e->array);
  if (const auto* e = std::get_if<ERearrange>(&exp)) return Atom(e->array);
  if (const auto* e = std::get_if<EReshape>(&exp)) return Atom(e->array);
  return std::nullopt;
}

std::vector<VarId> consumed_in(const Program& p, const Stm& s) {
  std::vector<VarId> all = consumed_by(p, s);
  visit_branches(s.exp, [&](const Body& b) {
    for (const Stm& inner : b.stms) {
      const auto more = consumed_in(p, inner);
      all.insert(all.end(), more.begin(), more.end());
    }
  });
  return all;
}

}  // namespace kenaz::ir

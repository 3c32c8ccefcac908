#include "kernels/ad/invariant.h"

#include <algorithm>

#include "kernels/ad/interchange.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

namespace {

/// Adds what the body uses otherwise than as inputs of maps.
void others_than_inputs(const Body& b, VarSet& to) {
  const auto add = [&](const Atom& a) {
    if (!a.is_const()) to.insert(a.var());
  };
  for (const Stm& s : b.stms) {
    if (!std::holds_alternative<ESoac>(s.exp)) visit_operands(s.exp, add);
    visit_bodies(s.exp, [&](const Body& inner) { others_than_inputs(inner, to); });
  }
  for (const Atom& r : b.results) add(r);
}

}  // namespace

void Invariants::look() {
  for (; seen_ < body_.stms.size(); ++seen_) {
    const Stm& s = body_.stms[seen_];
    for_each_bound(s, [&](VarId v) { bound_.insert(v); });
    for (size_t k = 0; k < s.pat.size(); ++k) places_.emplace(s.pat[k], Place{seen_, k});
  }
}

bool Invariants::is_outside(const Atom& a) {
  look();
  return a.is_const() || !bound_.contains(a.var());
}

bool Invariants::are_sizes_outside(const std::vector<Atom>& dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [&](const Atom& d) { return is_outside(d) && counters_.is_size(d, by_); });
}

/// Reads no array at an index, checks nothing, changes nothing in place and makes no array of a
/// negative size.
bool Invariants::is_total(const Stm& s) const {
  const auto is_size = [&](const Atom& a) { return counters_.is_size(a, by_); };
  bool total = std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EPrim>(s.exp) ||
               std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EIf>(s.exp) ||
               std::holds_alternative<ERearrange>(s.exp) || std::holds_alternative<EReshape>(s.exp);
  if (const auto* e = std::get_if<ESoac>(&s.exp)) {
    total = e->scans.empty() && e->reduces.empty() && is_size(e->width);
  }
  if (const auto* e = std::get_if<EReplicate>(&s.exp)) {
    total = std::all_of(e->dims.begin(), e->dims.end(), is_size);
  }
  visit_bodies(s.exp, [&](const Body& b) {
    total = total && std::all_of(b.stms.begin(), b.stms.end(),
                                 [&](const Stm& inner) { return is_total(inner); });
  });
  return total;
}

std::optional<Stm> Invariants::code(VarId v) {
  look();
  const auto at = places_.find(v);
  if (at == places_.end()) return std::nullopt;
  const Stm& s = body_.stms[at->second.stm];
  if (!s.attrs.empty()) return std::nullopt;
  Stm out{{v}, EAtom{}, s.certs, s.prov, {}};
  if (auto map = map_to(p_, body_, s, at->second.position)) {
    out.exp = std::move(*map);
  } else if (s.pat.size() == 1) {
    out.exp = s.exp;
  } else {
    return std::nullopt;
  }
  return is_total(out) ? std::optional(std::move(out)) : std::nullopt;
}

bool Invariants::is_same(const Atom& a) {
  if (is_outside(a)) return true;
  if (const auto known = same_.find(a.var()); known != same_.end()) return known->second;
  bool same = false;
  if (const auto s = code(a.var())) {
    const VarSet used = free_vars(p_, *s);
    same = std::all_of(used.begin(), used.end(), [&](VarId v) { return is_same(v); });
  }
  same_.emplace(a.var(), same);
  return same;
}

bool Invariants::are_same(const std::vector<Atom>& atoms) {
  return std::all_of(atoms.begin(), atoms.end(), [&](const Atom& a) { return is_same(a); });
}

Atom Invariants::outside(Builder& b, const Atom& a) {
  if (is_outside(a)) return a;
  if (const auto made = made_.find(a.var()); made != made_.end()) return made->second;
  const Stm s = *code(a.var());
  Subst names;
  const VarSet used = free_vars(p_, s);
  std::vector<VarId> operands(used.begin(), used.end());
  std::sort(operands.begin(), operands.end());
  for (const VarId v : operands) {
    if (!is_outside(v)) names[v] = outside(b, v);
  }
  b.body().stms.push_back(copy_renamed(p_, s, &names));
  const Atom out = b.last().pat[0];
  made_.emplace(a.var(), out);
  return out;
}

void move_out(Program& p, const std::vector<VarId>& params, Body& body, Body& to) {
  VarSet bound(params.begin(), params.end()), taken;
  for_each_bound(body, [&](VarId v) { bound.insert(v); });
  others_than_inputs(body, taken);
  std::vector<Stm> kept;
  for (Stm& s : body.stms) {
    bool same = std::holds_alternative<EPrim>(s.exp) ||
                (std::holds_alternative<EIota>(s.exp) && !taken.contains(s.pat[0]));
    if (same) for_each_use(p, s, [&](VarId v) { same = same && !bound.contains(v); });
    if (same) {
      for (const VarId v : s.pat) bound.erase(v);
    }
    (same ? to.stms : kept).push_back(std::move(s));
  }
  body.stms = std::move(kept);
}

}  // namespace kenaz::ad

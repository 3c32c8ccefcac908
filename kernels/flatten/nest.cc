#include "kernels/flatten/nest.h"

#include <algorithm>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

/// At most so many statements are run again for a value instead of storing it.
constexpr size_t kMaxWeight = 16;

// The text of a program must not depend on a hash table's order.
std::vector<VarId> sorted(const VarSet& set) {
  std::vector<VarId> list(set.begin(), set.end());
  std::sort(list.begin(), list.end());
  return list;
}

/// The type as it is in a copy of the body: its sizes may be made there.
Type renamed(Type t, const Subst& names) {
  substitute(t, names);
  return t;
}

}  // namespace

Type Nest::array_of(const Type& t) const {
  Type result = t;
  const std::vector<Atom> sizes = sizes_of(levels);
  result.dims.insert(result.dims.begin(), sizes.begin(), sizes.end());
  return result;
}

std::vector<VarId> Nest::indices() const {
  std::vector<VarId> out;
  for (const SegDim& l : levels) out.push_back(l.index);
  return out;
}

void PointValues::store(VarId v, VarId array, const Nest& nest) {
  stored_[v] = {array, nest.indices()};
}

const VarId* PointValues::stored(VarId v, const Nest& nest) const {
  const auto it = stored_.find(v);
  return it != stored_.end() && it->second.indices == nest.indices() ? &it->second.array : nullptr;
}

std::optional<VarId> PointValues::whole(VarId v, const Nest& nest, size_t levels) const {
  if (levels == 0) return knows(v) ? std::nullopt : std::optional(v);
  if (const auto it = stored_.find(v); it != stored_.end()) {
    std::vector<VarId> indices = nest.indices();
    indices.resize(levels);
    if (it->second.indices == indices) return it->second.array;
    return std::nullopt;
  }
  const Stm* made = recipe(v);
  const auto* row = made == nullptr ? nullptr : std::get_if<EIndex>(&made->exp);
  if (row == nullptr || !made->certs.empty()) return std::nullopt;
  const VarId index = nest.levels[levels - 1].index;
  if (row->dims != row_dims(p_.type_of(row->array), {index})) return std::nullopt;
  return whole(row->array, nest, levels - 1);
}

const Stm* PointValues::recipe(VarId v) const {
  const auto it = recipes_.find(v);
  return it == recipes_.end() || stored_.count(v) != 0 ? nullptr : &it->second.stm;
}

bool PointValues::make_again(const Stm& s) {
  size_t weight = 1;
  for (const VarId v : free_vars(p_, s)) {
    if (const auto it = recipes_.find(v); it != recipes_.end()) weight += it->second.weight;
  }
  if (weight > kMaxWeight) return false;
  for (const VarId v : s.pat) recipes_.insert_or_assign(v, Recipe{s, weight});
  return true;
}

void PointValues::make_always(const Stm& s) {
  for (const VarId v : s.pat) recipes_.insert_or_assign(v, Recipe{s, 1});
}

void PointValues::add_needs(VarId v, VarSet& to) const {
  if (!to.insert(v).second) return;
  const auto it = recipes_.find(v);
  if (it == recipes_.end() || stored_.count(v) != 0) return;
  for (const VarId needed : free_vars(p_, it->second.stm)) add_needs(needed, to);
}

// Whether a fetched array is part of one in memory, and not one that the thread has made.
bool PointValues::is_part_of_stored(VarId v) const {
  const auto it = recipes_.find(v);
  if (it == recipes_.end()) return knows(v);
  const Exp& e = it->second.stm.exp;
  return !std::holds_alternative<EReplicate>(e) && !std::holds_alternative<EIota>(e);
}

void PointValues::fetch(VarId v, Body& to, Subst& names, ProvId prov) {
  if (names.count(v) != 0) return;
  if (const auto it = stored_.find(v); it != stored_.end()) {
    const auto& [array, indices] = it->second;
    const VarId row = p_.new_var(renamed(p_.type_of(v), names), p_.vars[v.index].name);
    std::vector<Atom> place;
    for (const VarId i : indices) place.push_back(names.at(i));
    Exp exp = EAtom{array};
    if (!place.empty()) exp = EIndex{array, row_dims(p_.type_of(array), place)};
    to.stms.push_back(Stm{{row}, std::move(exp), {}, prov, {}});
    names[v] = Atom(row);
    return;
  }
  const auto it = recipes_.find(v);
  if (it == recipes_.end()) return;
  const Stm& stm = it->second.stm;
  for (const VarId needed : sorted(free_vars(p_, stm))) fetch(needed, to, names, prov);
  to.stms.push_back(copy_renamed(p_, stm, &names));
}

// A body may consume only what it makes: of a stored array it gets a part that others share.
void PointValues::copy_consumed(const Stm& s, const VarSet& shared, Body& to, Subst& names) {
  for (const VarId v : consumed_in(p_, s)) {
    if ((!is_part_of_stored(v) && shared.count(v) == 0) || p_.type_of(v).is_scalar()) continue;
    const auto it = names.find(v);
    if (it == names.end()) continue;
    const VarId own = p_.new_var(renamed(p_.type_of(v), names), p_.vars[v.index].name);
    to.stms.push_back(Stm{{own}, ECopy{it->second.var()}, {}, s.prov, {}});
    it->second = Atom(own);
  }
}

void PointValues::note_shared(const Stm& s, VarSet& shared) const {
  const auto is_shared = [&](const Atom& a) {
    return !a.is_const() && (shared.count(a.var()) != 0 || is_part_of_stored(a.var()));
  };
  visit_branches(s.exp, [&](const Body& inner) {
    for (size_t k = 0; k < s.pat.size(); k++) {
      if (is_shared(inner.results[k])) shared.insert(s.pat[k]);
    }
  });
  if (const auto* loop = std::get_if<ELoop>(&s.exp)) {
    // Without a turn, the result is what the param is at first.
    const std::vector<VarId> consumed = consumed_in(p_, s);
    for (size_t k = 0; k < s.pat.size(); k++) {
      const Atom& init = loop->params[k].init;
      const bool gone = !init.is_const() &&
                        std::find(consumed.begin(), consumed.end(), init.var()) != consumed.end();
      if ((is_shared(init) && !gone) || is_shared(loop->body.results[k])) shared.insert(s.pat[k]);
    }
  }
  const auto of = viewed(s.exp);
  if (of && is_shared(*of)) shared.insert(s.pat[0]);
}

Body PointValues::body_at_point(const Nest& nest, const std::vector<Stm>& stms,
                                std::vector<Atom> results, SegSpace& space) {
  Body body;
  Subst names;
  for (const SegDim& l : nest.levels) {
    const VarId index = p_.new_var({PrimType::kI64, {}}, p_.vars[l.index.index].name);
    space.dims.push_back({index, l.size});
    names[l.index] = Atom(index);
  }
  const ProvId prov = stms.empty() ? ProvId{} : stms.back().prov;
  VarSet shared;
  for (const Stm& s : stms) {
    for (const VarId v : sorted(free_vars(p_, s))) fetch(v, body, names, s.prov);
    copy_consumed(s, shared, body, names);
    note_shared(s, shared);
    // Not the statement itself: a variable's type is a fact about the whole program, and its sizes
    // have other names here.
    body.stms.push_back(copy_renamed(p_, s, &names));
  }
  for (const Atom& r : results) {
    if (!r.is_const()) fetch(r.var(), body, names, prov);
  }
  for (Atom& r : results) substitute(r, names);
  body.results = std::move(results);
  return body;
}

}  // namespace kenaz::flatten

#include "kernels/ad/interchange.h"

#include <algorithm>

#include "kernels/ad/remake.h"
#include "kernels/ad/values.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

/// Takes away what the body's results do not need: statements, results of branches, of maps and
/// their inputs.
static void prune(const Program& p, Body& body);

void prune(const Program& p, ESoac& e) {
  prune(p, e.map.body);
  VarSet used;
  for_each_use(p, e.map.body, [&](VarId v) { used.insert(v); });
  for (size_t k = e.inputs.size(); k-- > 0;) {
    if (used.contains(e.map.params[k])) continue;
    erase_at(e.inputs, k);
    erase_at(e.map.params, k);
  }
}

void prune(const Program& p, Body& body) {
  keep_needed(p, body, [&](Stm& s, const VarSet& needed) {
    auto* map = std::get_if<ESoac>(&s.exp);
    if (map != nullptr && !(map->scans.empty() && map->reduces.empty())) map = nullptr;
    auto* branch = std::get_if<EIf>(&s.exp);
    for (size_t k = s.pat.size(); (map != nullptr || branch != nullptr) && k-- > 0;) {
      if (needed.contains(s.pat[k])) continue;
      erase_at(s.pat, k);
      visit_bodies(s.exp, [&](Body& inner) { erase_at(inner.results, k); });
      if (map != nullptr) erase_at(map->map.ret, k);
    }
    if (map != nullptr) prune(p, *map);
    if (branch != nullptr) visit_bodies(s.exp, [&](Body& inner) { prune(p, inner); });
  });
}

namespace {

/// Inputs that the body replicates become what is replicated.
void use_replicated(Program& p, const Body& body, ESoac& e) {
  Subst names;
  for (size_t k = 0; k < e.inputs.size(); ++k) {
    size_t position = 0;
    const Stm* s = binding(body, e.inputs[k], position);
    const auto* r = s == nullptr ? nullptr : std::get_if<EReplicate>(&s->exp);
    if (r != nullptr && r->dims.size() == 1) names[e.map.params[k]] = r->value;
  }
  if (names.empty()) return;
  substitute(p, e.map.body, names);
  prune(p, e);
}

}  // namespace

const Stm* binding(const Body& body, VarId v, size_t& position) {
  for (const Stm& s : body.stms) {
    for (position = 0; position < s.pat.size(); ++position) {
      if (s.pat[position] == v) return &s;
    }
  }
  return nullptr;
}

std::optional<ESoac> map_to(Program& p, const Body& body, const Stm& s, size_t position) {
  const auto* e = std::get_if<ESoac>(&s.exp);
  if (e == nullptr || !e->scans.empty() || position < e->reduces.size()) return std::nullopt;
  if (std::any_of(e->reduces.begin(), e->reduces.end(),
                  [](const Monoid& m) { return m.neutral.size() != 1; })) {
    return std::nullopt;
  }
  ESoac out = *e;
  out.reduces.clear();
  out.map.body.results = {out.map.body.results[position]};
  out.map.ret = {out.map.ret[position]};
  prune(p, out);
  use_replicated(p, body, out);
  return out;
}

namespace {

/// Whether code inside of the map depends on checks of the element, or on sizes that it has.
bool rests_on(const Program& p, const ESoac& e, const VarSet& bound) {
  VarSet own;
  for_each_bound(e.map.body, [&](VarId v) { own.insert(v); });
  const auto is_of_element = [&](const Atom& a) {
    return !a.is_const() && bound.contains(a.var()) && !own.contains(a.var());
  };
  const auto rests = [&](const auto& self, const Body& b) -> bool {
    return std::any_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      bool found = std::any_of(s.certs.begin(), s.certs.end(), is_of_element);
      for (const VarId v : s.pat) {
        const auto& dims = p.type_of(v).dims;
        found = found || std::any_of(dims.begin(), dims.end(), is_of_element);
      }
      visit_bodies(s.exp, [&](const Body& inner) { found = found || self(self, inner); });
      return found;
    });
  };
  return is_of_element(e.width) || rests(rests, e.map.body);
}

/// Whether the sum of what the map makes can go on into it until it is one of scalars, given what
/// there will be arrays of.
bool is_scalar_inside(Program& p, const ESoac& e, const VarSet& bound,
                      const std::vector<VarId>& ingredients_of_map) {
  const Atom& value = e.map.body.results[0];
  if (p.type_of(value).is_scalar()) return true;
  if (value.is_const()) return false;
  ElementArrays have;
  for (const VarId v : ingredients_of_map) have.emplace(v, v);
  for (size_t k = 0; k < e.inputs.size(); ++k) {
    if (bound.contains(e.inputs[k])) have.emplace(e.map.params[k], e.inputs[k]);
  }
  VarSet inside;
  for (const auto& entry : have) inside.insert(entry.first);
  for_each_bound(e.map.body, [&](VarId v) { inside.insert(v); });
  return ingredients(p, e.map.body, inside, have, value.var()).has_value();
}

std::vector<int> outer_swapped(int rank) {
  std::vector<int> perm;
  for (int d = 0; d < rank; ++d) perm.push_back(d < 2 ? 1 - d : d);
  return perm;
}

/// Elements of arrays: params[k] is a row of arrays[k].
struct Elements {
  Atom width;
  std::vector<VarId> params, arrays;
  void add(VarId param, VarId array) {
    params.push_back(param);
    arrays.push_back(array);
  }
};

/// A map over the elements.
ESoac map_of(const Program& p, const Elements& of, Body body) {
  ESoac e;
  e.width = of.width;
  e.inputs = of.arrays;
  e.map.params = of.params;
  for (const Atom& r : body.results) e.map.ret.push_back(p.type_of(r));
  e.map.body = std::move(body);
  return e;
}

/// The sum of the body's only result over all elements. The body's names are used up.
Atom sum_over(Builder& b, const Elements& of, Body body) {
  Program& p = b.program();
  const Atom value = body.results[0];
  const Type t = p.type_of(value);
  if (t.is_scalar()) {
    ESoac e = map_of(p, of, std::move(body));
    e.reduces.push_back(sum_of(b, t));
    return b.emit(std::move(e), t, "sum");
  }
  VarSet bound(of.params.begin(), of.params.end());
  for_each_bound(body, [&](VarId v) { bound.insert(v); });
  ElementArrays arrays;
  for (size_t k = 0; k < of.params.size(); ++k) arrays.emplace(of.params[k], of.arrays[k]);
  const auto needed =
      value.is_const() ? std::nullopt : ingredients(p, body, bound, arrays, value.var());
  if (!needed) {
    ESoac e = map_of(p, of, std::move(body));
    return sum_rows(b, b.emit(std::move(e), array_of(of.width, t), "rows"));
  }
  const Body read = body;
  body.results.clear();
  std::vector<VarId> pat;
  for (const VarId v : *needed) {
    if (arrays.contains(v)) continue;
    body.results.emplace_back(v);
    pat.push_back(p.new_var(array_of(of.width, p.type_of(v)), "part"));
    arrays.emplace(v, pat.back());
  }
  if (!pat.empty()) b.emit_to(pat, map_of(p, of, std::move(body)));
  return interchanged_sum(b, read, value.var(), of.width, arrays);
}

}  // namespace

std::optional<std::vector<VarId>> ingredients(Program& p, const Body& body, const VarSet& bound,
                                              const ElementArrays& have, VarId value) {
  size_t position = 0;
  const Stm* s = binding(body, value, position);
  if (s == nullptr) return std::nullopt;
  if (const auto* e = std::get_if<ERearrange>(&s->exp)) {
    return ingredients(p, body, bound, have, e->array);
  }
  const std::optional<ESoac> e = map_of_result(p, body, *s, position, have);
  if (!e || rests_on(p, *e, bound)) return std::nullopt;
  for (const VarId c : s->certs) {
    if (bound.contains(c)) return std::nullopt;
  }
  VarSet used;
  for (const VarId v : e->inputs) used.insert(v);
  for (const VarId v : free_vars(p, e->map)) used.insert(v);
  std::vector<VarId> out;
  const Type& made = p.type_of(value);
  for (const VarId v : used) {
    if (!bound.contains(v)) continue;
    out.push_back(v);
    const Type& t = p.type_of(v);
    if (have.contains(v)) continue;
    if (t.rank() >= made.rank()) return std::nullopt;
    for (const Atom& d : t.dims) {
      if (std::find(made.dims.begin(), made.dims.end(), d) == made.dims.end()) return std::nullopt;
    }
  }
  if (!is_scalar_inside(p, *e, bound, out)) return std::nullopt;
  std::sort(out.begin(), out.end());
  return out;
}

VarId interchanged_sum(Builder& b, const Body& body, VarId value, const Atom& width,
                       const ElementArrays& arrays) {
  Program& p = b.program();
  size_t position = 0;
  const Stm& s = *binding(body, value, position);
  if (const auto* e = std::get_if<ERearrange>(&s.exp)) {
    return b.rearrange(e->perm, interchanged_sum(b, body, e->array, width, arrays));
  }
  const ESoac inner = *map_of_result(p, body, s, position, arrays);
  ESoac outer;
  outer.width = inner.width;
  Elements of{width, {}, {}};
  Subst names;
  const auto element = [&](VarId v, VarId array) {
    const VarId param = p.new_var(Type(p.type_of(v)), "x");
    names[v] = param;
    of.add(param, array);
  };
  for (size_t k = 0; k < inner.inputs.size(); ++k) {
    const VarId own = inner.map.params[k];
    const auto found = arrays.find(inner.inputs[k]);
    const bool varies = found != arrays.end();
    VarId input = inner.inputs[k];
    if (varies) {
      input = b.rearrange(outer_swapped(p.type_of(found->second).rank()), found->second);
    }
    const VarId row = p.new_var(row_type(p.type_of(input)), "row");
    outer.inputs.push_back(input);
    outer.map.params.push_back(row);
    if (varies) {
      element(own, row);
    } else {
      names[own] = row;
    }
  }
  const VarSet used = free_vars(p, inner.map);
  std::vector<VarId> free(used.begin(), used.end());
  std::sort(free.begin(), free.end());
  for (const VarId v : free) {
    if (const auto found = arrays.find(v); found != arrays.end()) element(v, found->second);
  }
  const Type row = row_type(p.type_of(value));
  Builder in(p, outer.map.body, s.prov);
  const Atom sum = sum_over(in, of, copy_renamed(p, inner.map.body, names));
  outer.map.body.results = {sum};
  outer.map.ret = {row};
  const Atom outer_width = outer.width;
  return b.emit(std::move(outer), array_of(outer_width, row), "adj");
}

}  // namespace kenaz::ad

// Reverse mode of maps. What an element contributes to a variable from outside of the map becomes a
// result of the map back: a sum of scalars, or indices and values that a histogram adds up.
#include <utility>

#include "kernels/ad/interchange.h"
#include "kernels/ad/reverse_sweep.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

/// What a map back leaves of free variables: first sums, then arrays.
struct Reverse::Exports {
  struct Sum {  // of scalars; at `index`, the same for all elements, if `of` is an array
    VarId of;
    Atoms index;
    Atom value;
  };
  struct Dense {
    VarId of;
    Atom value;
    bool interchanged = false;  // no result: the sum is made of other ones
  };
  struct Places {
    VarId of;
    Part part;
  };
  std::vector<Sum> sums;
  std::vector<Dense> dense;
  std::vector<Places> places;
};

void Reverse::collect(Builder& in, const Body& body, Frame& frame, Exports& out) {
  VarSet bound;
  for_each_bound(body, [&](VarId v) { bound.insert(v); });
  const auto is_outside = [&](const Atom& a) { return a.is_const() || !bound.contains(a.var()); };
  for (auto& [index, a] : frame) {
    const VarId v{index};
    const Type t = p_.type_of(v);
    if (t.is_scalar()) {
      out.sums.push_back({v, {}, total(in, v, a, std::nullopt)});
      continue;
    }
    bool sparse = !a.value;
    for (const Part& part : a.parts) {
      for (const Atom& d : value_dims(t, part)) sparse = sparse && is_outside(d);
      // All of the array: there is nothing sparse about it.
      sparse = sparse && !(part.is_slice() && slice_dims(part.slice).size() == part.slice.size());
    }
    if (!sparse) {
      out.dense.push_back({v, total(in, v, a, std::nullopt)});
      continue;
    }
    for (const Part& part : a.parts) {
      const Part at = at_indices(in, t, part);
      bool invariant = at.batch.empty() && static_cast<int>(at.index.size()) == t.rank();
      for (const Atom& i : at.index) invariant = invariant && is_outside(i);
      if (invariant) {
        out.sums.push_back({v, at.index, at.value});
      } else {
        out.places.push_back({v, at});
      }
    }
  }
}

Reverse::Vars Reverse::reverse_map(Builder& b, const Atom& width, const Vars& inputs,
                                   const RowsFn& fn) {
  ESoac e;
  e.width = width;
  e.inputs = inputs;
  for (const VarId v : inputs) e.map.params.push_back(p_.new_var(row_type(p_.type_of(v)), "x"));
  Builder in(p_, e.map.body, b.prov());
  std::vector<Row> rows;
  const bool around = std::exchange(in_map_, true);
  Frame left = in_frame([&] { rows = fn(in, e.map.params); });
  in_map_ = around;
  Exports exports;
  // The params count as bound inside.
  Body with_params = e.map.body;
  with_params.stms.push_back(Stm{e.map.params, EAtom{}, {}, {}, {}});
  collect(in, with_params, left, exports);
  Vars pat, sums, arrays, out;
  const auto result = [&](const Atom& a, const Type& t, bool sum) {
    e.map.body.results.push_back(a);
    e.map.ret.push_back(t);
    pat.push_back(p_.new_var(sum ? t : array_of(width, t), "adj"));
    return pat.back();
  };
  for (const auto& s : exports.sums) {
    const Type t{p_.type_of(s.of).prim, {}};
    sums.push_back(result(s.value, t, true));
    e.reduces.push_back(sum_of(b, t));
  }
  for (const Row& row : rows) out.push_back(result(row.atom, row.type, false));
  ElementArrays rows_of;
  for (size_t k = 0; k < inputs.size(); ++k) rows_of.emplace(e.map.params[k], inputs[k]);
  VarSet bound(e.map.params.begin(), e.map.params.end());
  for_each_bound(e.map.body, [&](VarId v) { bound.insert(v); });
  for (auto& d : exports.dense) {
    const auto parts = d.value.is_const()
                           ? std::nullopt
                           : ingredients(p_, e.map.body, bound, rows_of, d.value.var());
    d.interchanged = parts.has_value();
    if (!parts) arrays.push_back(result(d.value, p_.type_of(d.of), false));
    for (const VarId v : parts.value_or(Vars())) {
      if (!rows_of.contains(v)) rows_of.emplace(v, result(v, p_.type_of(v), false));
    }
  }
  for (const auto& place : exports.places) {
    const Type t = p_.type_of(place.of);
    for (const Atom& i : place.part.index) {
      arrays.push_back(result(i, {PrimType::kI64, place.part.batch}, false));
    }
    arrays.push_back(result(place.part.value, {t.prim, value_dims(t, place.part)}, false));
  }
  const Body body = e.map.body;
  if (!pat.empty()) b.emit_to(pat, std::move(e));
  for (const auto& d : exports.dense) {
    if (!d.interchanged) continue;
    contribute(b, d.of, interchanged_sum(b, body, d.value.var(), width, rows_of));
  }
  contribute_exports(b, width, exports, sums, arrays);
  return out;
}

void Reverse::contribute_exports(Builder& b, const Atom& width, const Exports& exports,
                                 const Vars& sums, const Vars& arrays) {
  for (size_t k = 0; k < sums.size(); ++k) {
    const auto& s = exports.sums[k];
    if (s.index.empty()) {
      contribute(b, s.of, sums[k]);
    } else {
      Part part;
      part.index = s.index;
      part.value = sums[k];
      contribute(s.of, std::move(part));
    }
  }
  size_t at = 0;
  for (const auto& d : exports.dense) {
    if (!d.interchanged) contribute(b, d.of, sum_rows(b, arrays[at++]));
  }
  for (const auto& place : exports.places) {
    Part part;
    part.batch = place.part.batch;
    part.batch.insert(part.batch.begin(), width);
    for (size_t d = 0; d < place.part.index.size(); ++d) part.index.emplace_back(arrays[at++]);
    part.value = arrays[at++];
    contribute(place.of, std::move(part));
  }
}

void Reverse::map(Builder& b, const ESoac& e, const std::vector<Maybe>& adj) {
  Vars inputs = e.inputs;
  std::vector<size_t> seeded, varied;
  for (size_t k = 0; k < adj.size(); ++k) {
    if (!adj[k]) continue;
    seeded.push_back(k);
    inputs.push_back(adj[k]->var());
  }
  const size_t n = e.inputs.size();
  const Vars arrays = reverse_map(b, e.width, inputs, [&](Builder& in, const Vars& params) {
    Subst names;
    for (size_t k = 0; k < n; ++k) {
      names[e.map.params[k]] = params[k];
      if (activity_.has(e.inputs[k])) activity_.add(params[k]);
    }
    const Sweep sweep = forward(in, copy_renamed(p_, e.map.body, names));
    for (size_t i = 0; i < seeded.size(); ++i) {
      contribute(in, sweep.body.results[seeded[i]], params[n + i]);
    }
    backward(in, sweep);
    std::vector<Row> rows;
    for (size_t k = 0; k < n; ++k) {
      const Maybe row = take(in, params[k]);
      if (!row) continue;
      varied.push_back(k);
      rows.push_back({*row, row_type(p_.type_of(e.inputs[k]))});
    }
    return rows;
  });
  for (size_t i = 0; i < varied.size(); ++i) contribute(b, e.inputs[varied[i]], arrays[i]);
}

Reverse::Atoms Reverse::pull(Builder& b, const Lambda& f, const Atoms& args, const Atoms& adjoints,
                             const std::vector<char>& wanted, bool keep_free) {
  Atoms out;
  const Frame left = in_frame([&] {
    Subst s;
    const Vars vars = bind_arguments(b, f, args, s);
    for (size_t k = 0; k < vars.size(); ++k) {
      if (wanted[k]) activity_.add(vars[k]);
    }
    const Sweep sweep = forward(b, copy_renamed(p_, f.body, s));
    for (size_t k = 0; k < adjoints.size(); ++k) {
      contribute(b, sweep.body.results[k], adjoints[k]);
    }
    backward(b, sweep);
    for (size_t k = 0; k < vars.size(); ++k) {
      if (wanted[k]) out.push_back(take_or_zero(b, vars[k]));
    }
  });
  if (keep_free) merge(b, left);
  return out;
}

}  // namespace kenaz::ad

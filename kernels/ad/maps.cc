// Reverse mode of maps. What an element contributes to a variable from outside of the map becomes a
// result of the map back: a sum, if it is for the same places in all elements, or indices and
// values that a histogram adds up.
#include <algorithm>
#include <utility>

#include "kernels/ad/interchange.h"
#include "kernels/ad/invariant.h"
#include "kernels/ad/remake.h"
#include "kernels/ad/reverse_sweep.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

/// What a map back leaves of free variables: first sums, then arrays. Indices are known outside of
/// the map, but for those of places that are among its results.
struct Reverse::Exports {
  struct Sum {  // of scalars; at `index`, the same for all elements, if `of` is an array
    VarId of;
    Atoms index;
    Atom value;
  };
  struct Dense {  // of arrays; `at` the same places for all elements, if it has an index
    VarId of;
    Part at;
    Atom value;
    bool interchanged = false;  // no result: the sum is made of other ones
  };
  struct Places {
    VarId of;
    Part part;                                // of all elements
    std::vector<std::pair<size_t, Atom>> at;  // components of the index that are results
    Atom value;
  };
  std::vector<Sum> sums;
  std::vector<Dense> dense;
  std::vector<Places> places;
};

/// Whether the adjoint of an element is made up of parts which are at the same places in all
/// elements, and which are less than all of it.
bool Reverse::is_at_same_places(Invariants& same, VarId element) const {
  const auto it = frame_.find(element.index);
  if (it == frame_.end() || it->second.value) return false;
  const Type& t = p_.type_of(element);
  bool all = true;
  for (const Part& part : it->second.parts) all = all && is_in_order(t, part);
  return !all &&
         std::all_of(it->second.parts.begin(), it->second.parts.end(), [&](const Part& part) {
           if (!same.are_sizes_outside(value_dims(t, part))) return false;
           if (!part.is_slice()) return same.are_same(part.index);
           if (!is_prefix(t, part.slice)) return false;
           Atoms fixed;
           for (const Dim& d : part.slice) {
             if (const auto* fix = std::get_if<DimFix>(&d)) fixed.push_back(fix->index);
           }
           return !fixed.empty() && same.are_same(fixed);
         });
}

/// Places in `part` of an element, as places of all elements. `row`: if they are of rows of `of`.
void Reverse::place(Builder& b, const ESoac& e, VarId of, const Part& part,
                    const std::optional<VarId>& row, Invariants& same, Exports& out) {
  Exports::Places all{of, {}, {}, part.value};
  all.part.batch = part.batch;
  all.part.batch.insert(all.part.batch.begin(), e.width);
  if (row) all.part.index.emplace_back(*row);
  for (const Atom& i : part.index) {
    const auto param = std::find(e.map.params.begin(), e.map.params.end(), i);
    if (param != e.map.params.end()) {
      all.part.index.emplace_back(e.inputs[static_cast<size_t>(param - e.map.params.begin())]);
    } else if (same.is_same(i)) {
      all.part.index.emplace_back(b.replicate({e.width}, same.outside(b, i)));
    } else {
      all.at.emplace_back(all.part.index.size(), i);
      all.part.index.emplace_back();
    }
  }
  out.places.push_back(std::move(all));
}

void Reverse::collect(Builder& b, Builder& in, const ESoac& e, Frame& frame, Exports& out) {
  Invariants same(p_, in.body(), e.map.params, counters_, counters_.mark());
  for (auto& [index, a] : frame) {
    const VarId v{index};
    const Type t = p_.type_of(v);
    if (t.is_scalar()) {
      out.sums.push_back({v, {}, total(in, v, a, std::nullopt)});
      continue;
    }
    bool sparse = !a.value;
    for (const Part& part : a.parts) {
      sparse = sparse && same.are_sizes_outside(value_dims(t, part));
      // All of the array: there is nothing sparse about it.
      sparse = sparse && !(part.is_slice() && slice_dims(part.slice).size() == part.slice.size());
    }
    if (!sparse) {
      out.dense.push_back({v, {}, total(in, v, a, std::nullopt)});
      continue;
    }
    const auto param = std::find(e.map.params.begin(), e.map.params.end(), v);
    for (const Part& each : a.parts) {
      Part part = at_indices(in, t, each);
      if (param != e.map.params.end()) {
        const VarId array = e.inputs[static_cast<size_t>(param - e.map.params.begin())];
        place(b, e, array, part, along(b, b.iota(e.width), {}, part.batch), same, out);
        continue;
      }
      if (!same.are_same(part.index)) {
        place(b, e, v, part, std::nullopt, same, out);
        continue;
      }
      for (Atom& i : part.index) i = same.outside(b, i);
      if (part.batch.empty() && static_cast<int>(part.index.size()) == t.rank()) {
        out.sums.push_back({v, part.index, part.value});
      } else {
        // Outside, nothing has gone through all of the array to find the index.
        part.found = false;
        const Atom value = part.value;
        out.dense.push_back({v, std::move(part), value});
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
  const bool was_in_map = std::exchange(in_map_, true);
  counters_.enter_map();
  for (const VarId v : e.map.params) counters_.bind(v);
  Frame left = in_frame([&] { rows = fn(in, e.map.params); });
  counters_.leave_map();
  in_map_ = was_in_map;
  move_out(p_, e.map.params, e.map.body, b.body());
  Exports exports;
  collect(b, in, e, left, exports);
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
  for (const Row& row : rows) {
    // What goes back through a sum is the array itself, not a copy.
    const auto param = std::find(e.map.params.begin(), e.map.params.end(), row.atom);
    out.push_back(param != e.map.params.end()
                      ? inputs[static_cast<size_t>(param - e.map.params.begin())]
                      : result(row.atom, row.type, false));
  }
  ElementArrays rows_of;
  for (size_t k = 0; k < inputs.size(); ++k) rows_of.emplace(e.map.params[k], inputs[k]);
  for (auto& d : exports.dense) {
    if (!d.value.is_const()) return_what_is_costly(p_, e.map.body, d.value.var());
    VarSet bound(e.map.params.begin(), e.map.params.end());
    for_each_bound(e.map.body, [&](VarId v) { bound.insert(v); });
    const auto parts = d.value.is_const()
                           ? std::nullopt
                           : ingredients(p_, e.map.body, bound, rows_of, d.value.var());
    d.interchanged = parts.has_value();
    const Type t = p_.type_of(d.of);
    const Type row = d.at.index.empty() ? t : Type{t.prim, value_dims(t, d.at)};
    if (!parts) arrays.push_back(result(d.value, row, false));
    for (const VarId v : parts.value_or(Vars())) {
      if (!rows_of.contains(v)) rows_of.emplace(v, result(v, p_.type_of(v), false));
    }
  }
  for (auto& place : exports.places) {
    const Type t = p_.type_of(place.of);
    const Type index{PrimType::kI64, {place.part.batch.begin() + 1, place.part.batch.end()}};
    const Type value = row_type(Type{t.prim, value_dims(t, place.part)});
    for (const auto& [d, i] : place.at) place.part.index[d] = result(i, index, false);
    place.part.value = result(place.value, value, false);
  }
  const Body body = e.map.body;
  if (!pat.empty()) b.emit_to(pat, std::move(e));
  for (const auto& d : exports.dense) {
    if (!d.interchanged) continue;
    contribute_at(b, d.of, d.at, interchanged_sum(b, body, d.value.var(), width, rows_of));
  }
  contribute_exports(b, exports, sums, arrays);
  return out;
}

/// `value` is for the places of `part`, or for all of the variable.
void Reverse::contribute_at(Builder& b, VarId of, Part part, const Atom& value) {
  if (part.index.empty()) return contribute(b, of, value);
  part.value = value;
  contribute(of, std::move(part));
}

void Reverse::contribute_exports(Builder& b, const Exports& exports, const Vars& sums,
                                 const Vars& arrays) {
  for (size_t k = 0; k < sums.size(); ++k) {
    Part part;
    part.index = exports.sums[k].index;
    contribute_at(b, exports.sums[k].of, std::move(part), sums[k]);
  }
  size_t at = 0;
  for (const auto& d : exports.dense) {
    if (!d.interchanged) contribute_at(b, d.of, d.at, sum_rows(b, arrays[at++]));
  }
  for (const auto& place : exports.places) {
    contribute_at(b, place.of, place.part, place.part.value);
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
  std::vector<char> shared;
  for (const VarId v : e.inputs) {
    shared.push_back(shared_.contains(v) || counters_.is_outside_of_map(v) ? 1 : 0);
  }
  const Vars arrays = reverse_map(b, e.width, inputs, [&](Builder& in, const Vars& params) {
    const Counters::Mark outside = counters_.mark();
    Subst names;
    for (size_t k = 0; k < n; ++k) {
      names[e.map.params[k]] = params[k];
      counters_.element(params[k], e.inputs[k]);
      if (shared[k] != 0) shared_.insert(params[k]);
      if (activity_.has(e.inputs[k])) activity_.add(params[k]);
    }
    const Sweep sweep = forward(in, copy_renamed(p_, e.map.body, names));
    for (size_t i = 0; i < seeded.size(); ++i) {
      contribute(in, sweep.body.results[seeded[i]], params[n + i]);
    }
    backward(in, sweep);
    std::vector<Row> rows;
    move_out(p_, params, in.body(), b.body());
    Invariants same(p_, in.body(), params, counters_, outside);
    for (size_t k = 0; k < n; ++k) {
      // Rather the places of the array than a row for each element of two maps.
      if (shared[k] != 0 && is_at_same_places(same, params[k])) continue;
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

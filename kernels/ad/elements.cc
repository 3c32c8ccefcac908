// Reverse mode of maps whose results count at a few places only, as where the least of many is
// chosen: the elements there are made again, and gone back through, alone.
#include "kernels/ad/reverse_sweep.h"

namespace kenaz::ad {

using namespace ir;

/// Goes back through a map, if what its results contribute to is single elements. False: it is
/// not, and nothing has been done.
bool Reverse::elements(Builder& b, const Stm& s, const ESoac& e) {
  constexpr size_t kMaxParts = 4;
  size_t count = 0;
  for (const VarId v : s.pat) {
    const auto it = frame_.find(v.index);
    if (it == frame_.end()) continue;
    if (it->second.value) return false;
    for (const Part& part : it->second.parts) {
      if (!part.found || ++count > kMaxParts) return false;
    }
  }
  if (count == 0) return false;
  for (size_t k = 0; k < s.pat.size(); ++k) {
    const auto it = frame_.find(s.pat[k].index);
    if (it == frame_.end()) continue;
    const std::vector<Part> parts = std::move(it->second.parts);
    frame_.erase(it);
    for (const Part& part : parts) element(b, s, e, k, part);
  }
  return true;
}

/// Of one element, unless there is none.
void Reverse::element(Builder& b, const Stm& s, const ESoac& e, size_t result, const Part& part) {
  const Atom at = part.index[0];
  Branch sides[2];
  std::vector<size_t> varied;
  sides[0].frame = in_frame([&] {
    Builder in(p_, sides[0].body, s.prov);
    Subst names;
    Vars rows;
    for (size_t k = 0; k < e.inputs.size(); ++k) {
      rows.push_back(in.index(e.inputs[k], Atoms{at}).var());
      names[e.map.params[k]] = rows[k];
      counters_.bind(rows[k]);
      if (activity_.has(e.inputs[k])) activity_.add(rows[k]);
    }
    const Sweep sweep = forward(in, copy_renamed(p_, e.map.body, names));
    contribute(in, sweep.body.results[result], part.value);
    backward(in, sweep);
    for (size_t k = 0; k < rows.size(); ++k) {
      const Maybe row = take(in, rows[k]);
      if (!row) continue;
      varied.push_back(k);
      sides[0].body.results.push_back(*row);
    }
  });
  if (error_) return;
  Vars pat;
  Builder none(p_, sides[1].body, s.prov);
  for (const size_t k : varied) {
    const Type t = row_type(p_.type_of(e.inputs[k]));
    sides[1].body.results.push_back(zero_of(none, t));
    pat.push_back(p_.new_var(t, "adj"));
  }
  join_branches(b, s, b.lt(i64(0), e.width), sides, pat);
  for (size_t i = 0; i < varied.size(); ++i) {
    Part row;
    row.index = {at};
    row.value = pat[i];
    row.found = true;
    contribute(e.inputs[varied[i]], std::move(row));
  }
}

}  // namespace kenaz::ad

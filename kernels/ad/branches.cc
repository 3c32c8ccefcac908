// Reverse mode of branches: one branch over adjoints, in which the forward part runs again.
#include <algorithm>

#include "kernels/ad/reverse_sweep.h"
#include "kernels/ad/turns.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

Reverse::Branch Reverse::branch(const Stm& s, const Body& of, const std::vector<Maybe>& adj) {
  Branch out;
  out.frame = in_frame([&] {
    Builder in(p_, out.body, s.prov);
    const Sweep sweep = forward(in, copy_renamed(p_, of));
    for (size_t k = 0; k < adj.size(); ++k) {
      if (adj[k]) contribute(in, sweep.body.results[k], *adj[k]);
    }
    backward(in, sweep);
  });
  return out;
}

/// Contributions to places become results: the index (-1 in the other branch) and the value. An
/// index that is known outside is none; what the other branch contributes there is zero. False:
/// there are other contributions, or too many.
bool Reverse::join_parts(const Stm& s, VarId v, Branch (&sides)[2], Vars& pat,
                         std::vector<Part>& joined) {
  const Type t = p_.type_of(v);
  std::vector<Part> parts[2];
  for (int side = 0; side < 2; ++side) {
    const auto it = sides[side].frame.find(v.index);
    if (it == sides[side].frame.end()) continue;
    if (it->second.value || it->second.parts.size() > kMaxParts) return false;
    for (const Part& part : it->second.parts) {
      if (part.is_slice() && !is_prefix(t, part.slice)) return false;
      Builder in(p_, sides[side].body, s.prov);
      parts[side].push_back(at_indices(in, t, part));
    }
  }
  VarSet inside;  // indices that were just made, too
  for (Branch& side : sides) for_each_bound(side.body, [&](VarId w) { inside.insert(w); });
  const auto is_outside = [&](const Atom& a) { return a.is_const() || !inside.contains(a.var()); };
  // The other side makes arrays of that size, too, and there it may be negative.
  const auto is_size_outside = [&](const Atom& a) {
    return is_outside(a) && counters_.is_size(a, counters_.mark());
  };
  for (const auto& of_side : parts) {
    for (const Part& at : of_side) {
      if (!std::all_of(at.batch.begin(), at.batch.end(), is_size_outside)) return false;
    }
  }
  for (size_t k = 0; k < std::min(parts[0].size(), parts[1].size()); ++k) {
    const Part &x = parts[0][k], &y = parts[1][k];
    if (x.batch != y.batch || x.index.size() != y.index.size()) return false;
  }
  for (size_t k = 0; k < std::max(parts[0].size(), parts[1].size()); ++k) {
    const Part* at[] = {k < parts[0].size() ? &parts[0][k] : nullptr,
                        k < parts[1].size() ? &parts[1][k] : nullptr};
    const Part& some = at[0] != nullptr ? *at[0] : *at[1];
    Part part;
    part.batch = some.batch;
    for (size_t d = 0; d < some.index.size(); ++d) {
      const Atom& i = some.index[d];
      if (is_outside(i) && (at[1] == nullptr || at[1]->index[d] == i)) {
        part.index.push_back(i);
        continue;
      }
      for (int side = 0; side < 2; ++side) {
        Builder in(p_, sides[side].body, s.prov);
        const Atom none = part.batch.empty() || at[side] != nullptr
                              ? i64(-1)
                              : Atom(in.replicate(part.batch, i64(-1)));
        in.body().results.push_back(at[side] != nullptr ? at[side]->index[d] : none);
      }
      pat.push_back(p_.new_var({PrimType::kI64, part.batch}, "at"));
      part.index.emplace_back(pat.back());
    }
    const Type value{t.prim, value_dims(t, some)};
    for (int side = 0; side < 2; ++side) {
      Builder in(p_, sides[side].body, s.prov);
      in.body().results.push_back(at[side] != nullptr ? at[side]->value : zero_of(in, value));
    }
    pat.push_back(p_.new_var(value, "adj"));
    part.value = pat.back();
    joined.push_back(std::move(part));
  }
  return true;
}

void Reverse::branches(Builder& b, const Stm& s, const EIf& e, const std::vector<Maybe>& adj) {
  Branch sides[2] = {branch(s, e.then_body, adj), branch(s, e.else_body, adj)};
  if (!error_) join_branches(b, s, e.cond, sides, {});
}

/// Emits the branch, which binds `pat` and what the sides leave in their frames.
void Reverse::join_branches(Builder& b, const Stm& s, const Atom& cond, Branch (&sides)[2],
                            Vars pat) {
  Frame all = sides[0].frame;
  all.insert(sides[1].frame.begin(), sides[1].frame.end());
  std::vector<std::pair<VarId, VarId>> values, replaced;  // variable, result
  std::vector<std::pair<VarId, Part>> parts;
  for (const auto& entry : all) {
    const VarId v{entry.first};
    const Type t = p_.type_of(v);
    const auto outer = frame_.find(v.index);
    const bool has_base = outer != frame_.end() && outer->second.value && !t.is_scalar();
    std::vector<Part> joined;
    if (!t.is_scalar() && !has_base && join_parts(s, v, sides, pat, joined)) {
      for (Part& part : joined) parts.emplace_back(v, std::move(part));
      continue;
    }
    const Maybe base = has_base ? outer->second.value : Maybe();
    for (Branch& side : sides) {
      Builder in(p_, side.body, s.prov);
      const auto it = side.frame.find(v.index);
      side.body.results.push_back(
          total(in, v, it == side.frame.end() ? Adjoint{} : it->second, base));
    }
    pat.push_back(p_.new_var(t, "adj"));
    (has_base ? replaced : values).emplace_back(v, pat.back());
  }
  if (pat.empty()) return;
  b.emit_to(pat, EIf{cond, std::move(sides[0].body), std::move(sides[1].body)});
  for (const auto& [v, value] : values) contribute(b, v, value);
  for (const auto& [v, value] : replaced) adjoint(v).value = value;
  for (auto& [v, part] : parts) contribute(v, std::move(part));
}

}  // namespace kenaz::ad

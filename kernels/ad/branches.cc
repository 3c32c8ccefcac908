// Reverse mode of branches: one branch over adjoints, in which the forward part runs again.
#include "kernels/ad/reverse_sweep.h"

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

/// Contributions to single places become results: the index (-1 in the other branch) and the value.
/// False: there are others, or too many.
bool Reverse::join_parts(const Stm& s, VarId v, Branch (&sides)[2], std::vector<Type>& types,
                         std::vector<Part>& joined) {
  constexpr size_t kMaxParts = 4;
  const Type t = p_.type_of(v);
  std::vector<Part> parts[2];
  size_t rank = 0;
  for (int side = 0; side < 2; ++side) {
    const auto it = sides[side].frame.find(v.index);
    if (it == sides[side].frame.end()) continue;
    if (it->second.value || it->second.parts.size() > kMaxParts) return false;
    for (const Part& part : it->second.parts) {
      if (part.is_slice() && !is_prefix(t, part.slice)) return false;
      Builder in(p_, sides[side].body, s.prov);
      parts[side].push_back(at_indices(in, t, part));
      const Part& at = parts[side].back();
      if (!at.batch.empty() || (rank != 0 && rank != at.index.size())) return false;
      rank = at.index.size();
    }
  }
  const Type row{t.prim, {t.dims.begin() + static_cast<std::ptrdiff_t>(rank), t.dims.end()}};
  for (size_t k = 0; k < std::max(parts[0].size(), parts[1].size()); ++k) {
    for (int side = 0; side < 2; ++side) {
      Builder in(p_, sides[side].body, s.prov);
      auto& results = sides[side].body.results;
      const bool exists = k < parts[side].size();
      for (size_t d = 0; d < rank; ++d) {
        results.push_back(exists ? parts[side][k].index[d] : i64(-1));
      }
      results.push_back(exists ? parts[side][k].value : zero_of(in, row));
    }
    Part part;
    for (size_t d = 0; d < rank; ++d) {
      part.index.emplace_back(p_.new_var({PrimType::kI64, {}}, "at"));
      types.push_back({PrimType::kI64, {}});
    }
    part.value = p_.new_var(row, "adj");
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
    std::vector<Type> types;
    std::vector<Part> joined;
    if (!t.is_scalar() && !has_base && join_parts(s, v, sides, types, joined)) {
      for (Part& part : joined) {
        for (const Atom& i : part.index) pat.push_back(i.var());
        pat.push_back(part.value.var());
        parts.emplace_back(v, std::move(part));
      }
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

#include "kernels/memory/candidates.h"

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/places.h"

namespace kenaz::memory {

using namespace ir;

Candidates::Candidates(const Program& p, const Aliases& aliases, const Body& b)
    : p_(p), aliases_(aliases), b_(b), last_uses_(ir::last_uses(p, aliases, b)) {
  for (size_t n = 0; n < b.stms.size(); n++) {
    const auto& pat = b.stms[n].pat;
    for (size_t k = 0; k < pat.size(); k++) definitions_[pat[k]] = {n, k};
  }
}

std::optional<size_t> Candidates::definition(VarId v) const {
  const auto it = definitions_.find(v);
  return it == definitions_.end() ? std::nullopt : std::optional(it->second.first);
}

std::optional<size_t> Candidates::maker(VarId v, size_t n) const {
  const auto it = definitions_.find(v);
  if (it == definitions_.end() || p_.vars[v.index].place) return std::nullopt;
  const auto [stm, k] = it->second;
  if (!makes(p_, b_.stms[stm], k) || last_uses_.at(aliases_.of(v)) != n) return std::nullopt;
  return stm;
}

bool Candidates::uses_memory(VarId array, size_t first, size_t end) const {
  bool found = false;
  const auto look = [&](VarId v) {
    found = found || (!p_.type_of(v).is_scalar() && aliases_.of(v) == aliases_.of(array));
  };
  for (size_t n = first; n < end && !found; n++) {
    for_each_use(p_, b_.stms[n], look);
    for_each_bound(b_.stms[n], look);
  }
  return found;
}

bool Candidates::raise(const Atom& a, size_t first, std::set<size_t>& raised) const {
  if (a.is_const()) return true;
  const auto at = definition(a.var());
  return !at || *at < first || raise(*at, first, raised);
}

bool Candidates::raise(size_t stm, size_t first, std::set<size_t>& raised) const {
  if (raised.contains(stm)) return true;
  const Stm& s = b_.stms[stm];
  const bool is_name = std::holds_alternative<EAtom>(s.exp) && p_.type_of(s.pat[0]).is_scalar();
  if (!is_name && !std::holds_alternative<EPrim>(s.exp) &&
      !std::holds_alternative<EAssert>(s.exp)) {
    return false;
  }
  bool fine = true;
  for_each_use(p_, s, [&](VarId v) { fine = fine && raise(v, first, raised); });
  if (fine) raised.insert(stm);
  return fine;
}

}  // namespace kenaz::memory

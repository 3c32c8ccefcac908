#include "kernels/flatten/lift.h"

#include <algorithm>

#include "kernels/ir/visit.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

void collect(const Body& b, Replicates& out) {
  for (const Stm& s : b.stms) {
    if (const auto* r = std::get_if<EReplicate>(&s.exp)) out[s.pat[0]] = r->value;
    visit_bodies(s.exp, [&](const Body& inner) { collect(inner, out); });
  }
}

// The operator on rows that the operator maps over its arrays, if it does just that.
const ESoac* only_map(const Lambda& op) {
  if (op.body.stms.size() != 1) return nullptr;
  const Stm& s = op.body.stms[0];
  const auto* map = std::get_if<ESoac>(&s.exp);
  if (map == nullptr || !map->scans.empty() || !map->reduces.empty()) return nullptr;
  if (map->inputs != op.params || op.body.results.size() != s.pat.size()) return nullptr;
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (op.body.results[k] != Atom(s.pat[k])) return nullptr;
  }
  return map;
}

std::optional<Atom> repeated(const Program& p, const Replicates& replicates, const Atom& a) {
  Atom value = a;
  while (!p.type_of(value).is_scalar()) {
    const auto it = replicates.find(value.var());
    if (it == replicates.end()) return std::nullopt;
    value = it->second;
  }
  return value;
}

}  // namespace

Replicates find_replicates(const Program& p) {
  Replicates out;
  visit_bodies(p, [&](const Body& b) { collect(b, out); });
  return out;
}

std::optional<Lifted> lift(const Program& p, const Replicates& replicates, const Monoid& m) {
  Lifted result;
  result.scalar = m;
  Lambda& op = result.scalar.op;
  while (!op.ret.empty() && !op.ret[0].is_scalar()) {
    const ESoac* map = only_map(op);
    if (map == nullptr) return std::nullopt;
    result.dims.push_back(map->width);
    Lambda inner = map->map;
    op = std::move(inner);
  }
  for (const Type& t : op.ret) {
    if (!t.is_scalar()) return std::nullopt;
  }
  for (Atom& n : result.scalar.neutral) {
    const auto value = repeated(p, replicates, n);
    if (!value) return std::nullopt;
    n = *value;
  }
  return result;
}

bool lifts_all(const Program& p, const Replicates& replicates, const Exp& combinator) {
  const auto lifts = [&](const Monoid& m) { return lift(p, replicates, m).has_value(); };
  if (const auto* soac = std::get_if<ESoac>(&combinator)) {
    return std::all_of(soac->scans.begin(), soac->scans.end(), lifts) &&
           std::all_of(soac->reduces.begin(), soac->reduces.end(), lifts);
  }
  const auto* hist = std::get_if<EHist>(&combinator);
  return hist == nullptr || std::all_of(hist->ops.begin(), hist->ops.end(),
                                        [&](const EHist::Op& op) { return lifts(op.monoid); });
}

}  // namespace kenaz::flatten

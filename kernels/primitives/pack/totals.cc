#include "kernels/primitives/pack/totals.h"

#include "kernels/primitives/reduce/fold.h"

namespace kenaz::primitives::pack {

Values count(Team& t, Combiner& c, const Value& from, const Value& to) {
  plan::Problem& p = t.problem;
  const plan::Problem packing = p;
  const plan::Elements& of = p.dry_elements.at ? packing.dry_elements : packing.elements;
  p.op = c.op();
  p.elements.at = [&](Builder& k, const plan::Place& at) {
    return flags(k, t.facts, of.at(k, at)[0], PrimType::kI64);
  };
  p.elements.many = {};
  if (of.many) {
    p.elements.many = [&](Builder& k, const plan::Place& first, int n) {
      std::vector<Values> all = of.many(k, first, n);
      for (Values& x : all) x = flags(k, t.facts, x[0], PrimType::kI64);
      return all;
    };
  }
  Values counts = reduce::fold_by_group(t, c, kir::i64(0), from, to);
  p = packing;
  return counts;
}

Values starts(Builder& k, const Facts& facts, const Values& totals, const Values& before,
              const Value& from) {
  Values out;
  Value first = kir::i64(0), others = from;
  for (size_t n = 0; n < totals.size(); n++) {
    out.push_back(k.add(first, before[n]));
    first = k.add(first, totals[n]);
    others = k.sub(others, before[n]);
  }
  if (facts.rest) out.push_back(k.add(first, others));
  return out;
}

}  // namespace kenaz::primitives::pack

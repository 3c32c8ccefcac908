#include "kernels/primitives/scan/range.h"

#include <utility>

#include "kernels/primitives/reduce/fold.h"

namespace kenaz::primitives::scan {

namespace {

// The elements without what they carry.
plan::Elements scanned_only(const plan::Elements& e, size_t scalars) {
  plan::Elements out;
  out.at = [e, scalars](Builder& k, const plan::Place& at) {
    Values x = e.at(k, at);
    x.resize(scalars);
    return x;
  };
  if (!e.many) return out;
  out.many = [e, scalars](Builder& k, const plan::Place& first, int n) {
    std::vector<Values> all = e.many(k, first, n);
    for (Values& x : all) x.resize(scalars);
    return all;
  };
  return out;
}

}  // namespace

Values fold_range(Team& t, Combiner& c, const Value& from, const Value& to) {
  const plan::Problem& p = t.problem;
  const plan::Elements dry = p.dry_elements.at ? p.dry_elements : p.elements;
  const plan::Elements all =
      std::exchange(t.problem.elements, scanned_only(dry, c.op().facts.types.size()));
  Values total = reduce::fold_by_group(t, c, kir::i64(0), from, to);
  t.problem.elements = all;
  return total;
}

void scan_range(Team& t, Combiner& c, Tiles& tiles, const Value& segment, const Value& from,
                const Value& to, const Values& before,
                const std::function<void(const Value& from)>& begin_tile) {
  Builder& k = t.k;
  const kir::Vars carry = k.declare(before);
  k.for_(
      from, to, tiles.size(),
      [&](const Value& at) {
        if (begin_tile) begin_tile(at);
        tiles.scan(segment, at, to, [&](const Values& total) {
          Values now = k.read(carry);
          k.assign(carry, c.combine(now, total));
          return now;
        });
      },
      true);
}

}  // namespace kenaz::primitives::scan

#include "kernels/primitives/blocks/ahead.h"

#include "kernels/primitives/scan/plan_functions.h"

namespace kenaz::primitives::scan::ahead {

namespace {

using blocks::AheadTile;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

AheadTile tile_of(const Facts& f, const Target& target) {
  return blocks::ahead_tile(f, target, AheadTile::Order::kRuns, f.op.types);
}

void scan_tile(Team& t, const AheadTile& shape, blocks::AheadSteps& steps) {
  Builder& k = t.k;
  Values start;
  blocks::AheadElements tile(t, shape, [&] { start = steps.before(t); });
  blocks::SubgroupCombiner c(t, t.problem.op);
  const Values own = c.subgroup_inclusive(tile.total());
  const Values before = c.combine(start, c.subgroup_before(own));
  const auto whole = [&] {
    Values acc = before;
    for (int first = 0; first < shape.per_thread(); first += shape.each) {
      std::vector<Values> results(acc.size());
      for (int n = first; n < first + shape.each; n++) {
        acc = c.combine(acc, tile.elements[static_cast<size_t>(n)]);
        for (size_t r = 0; r < acc.size(); r++) results[r].push_back(acc[r]);
      }
      for (size_t r = 0; r < acc.size(); r++) {
        shape.store(k, t.problem.sink.bases[r], k.group(), first, results[r]);
      }
    }
  };
  k.if_(tile.whole, whole, [&] {
    const kir::Vars acc = k.declare(before);
    k.for_(tile.first, tile.last, kir::i64(1), [&](const Value& i) {
      const plan::Place place = {kir::i64(0), i};
      k.assign(acc, c.combine(k.read(acc), t.problem.elements.at(k, place)));
      t.problem.sink.put(k, place, k.read(acc));
    });
  });
}

}  // namespace

bool applies(const Facts& f, const Target& target) { return tile_of(f, target).units > 0; }

HostExpr when(const Facts& f, const Target& target) {
  return blocks::ahead_when(f, target, tile_of(f, target));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  const AheadTile tile = tile_of(f, target);
  blocks::AheadSteps steps(f, target, bind, tile);
  steps.totals();
  steps.scan_boxes();
  steps.for_tiles("_ahead", [&](Team& t) { scan_tile(t, tile, steps); });
  return steps.take();
}

}  // namespace kenaz::primitives::scan::ahead

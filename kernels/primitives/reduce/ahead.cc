#include "kernels/primitives/blocks/ahead.h"

#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::ahead {

namespace {

using blocks::AheadTile;
using plan::Facts;
using plan::HostExpr;
using program::Target;

// Neighbours are loaded by vectors.
AheadTile tile_of(const Facts& f, const Target& target) {
  return blocks::ahead_tile(
      f, target, f.op.commutative ? AheadTile::Order::kRows : AheadTile::Order::kRuns, {});
}

}  // namespace

bool applies(const Facts& f, const Target& target) { return tile_of(f, target).units > 0; }

HostExpr when(const Facts& f, const Target& target) {
  return blocks::ahead_when(f, target, tile_of(f, target));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  blocks::AheadSteps steps(f, target, bind, tile_of(f, target));
  steps.totals();
  steps.reduce_boxes([](plan::Team& t, const kir::Values& total) {
    t.problem.sink.put(t.k, {kir::i64(0), kir::i64(0)}, total);
  });
  return steps.take();
}

}  // namespace kenaz::primitives::reduce::ahead

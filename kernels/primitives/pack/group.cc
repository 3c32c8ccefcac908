#include "kernels/primitives/pack/plan_functions.h"
#include "kernels/primitives/pack/totals.h"

namespace kenaz::primitives::pack::group {

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts& f, const Target& target) {
  return le(f.length, tile_size(f, target) * 4);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_group", 1, [&](Team& t) {
    Builder& k = t.k;
    Tiles tiles(t);
    const Value length = t.host(f.length);
    Values totals(static_cast<size_t>(f.classes), kir::i64(0));
    const Values none = totals;
    const bool one = f.classes == 1 && !f.rest;
    if (!one) {
      Combiner c(t, counting(f, PrimType::kI64));
      totals = c.reduce(tiles.count(kir::i64(0), length));
    }
    const kir::Vars at = k.declare(starts(k, f, totals, none, kir::i64(0)));
    tiles.range(kir::i64(0), length, at);
    if (one) totals = k.read(at);
    k.if_(k.eq(k.local(), 0), [&] { t.problem.counts(k, totals); });
  });
  return m.take();
}

}  // namespace kenaz::primitives::pack::group

#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/range.h"

namespace kenaz::primitives::scan::group {

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr tile = tile_size(f, target);
  const int64_t tiles = plan::turn_budget(target) / turns_per_tile(f, target);
  const HostExpr enough = le(plan::groups_to_fill(target), f.segments);
  return or_(le(f.length, tile * 4), and_(enough, le(f.length, tile * HostExpr(tiles))));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_group", f.segments, [&](Team& t) {
    Combiner c(t, t.problem.op);
    Tiles tiles(t, c);
    const Value segment = f.segments.is(1) ? kir::i64(0) : t.k.group();
    scan_range(t, c, tiles, segment, kir::i64(0), t.host(f.length), t.problem.op.neutral);
  });
  return m.take();
}

}  // namespace kenaz::primitives::scan::group

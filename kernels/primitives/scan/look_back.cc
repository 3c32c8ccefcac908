#include "kernels/primitives/blocks/look_back.h"

#include "kernels/primitives/scan/flat.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::look_back {

bool applies(const Facts&, const Target& target) { return target.forward_progress; }

// In one pass tiles wait for each other, in two nothing does, but data is read twice. On an H200
// the two are even at about 10^7 elements; of small tuples, which take long to combine, at twice as
// many.
HostExpr when(const Facts& f, const Target& target) {
  constexpr int64_t kMost = int64_t{1} << 23;
  constexpr int kSmallTuple = 16;
  const bool tuple = f.op.types.size() > 1 && plan::bytes_of(f.op.types) <= kSmallTuple;
  const HostExpr fits = le(f.segments * f.length, tuple ? 2 * kMost : kMost);
  // One thread's loops go over all tiles before its own, in the worst case.
  const HostExpr tiles = div_up(f.segments * f.length, tile_size(f, target));
  return target.max_turns > 0 ? and_(fits, le(tiles, plan::turn_budget(target))) : fits;
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Flat flat(f, bind);
  const Facts& one = flat.facts();
  plan::Maker m(one, target, flat.bind());
  const HostExpr n_tiles = div_up(one.length, tile_size(one, target));
  const auto memory = blocks::LookBack::memory(m, one.op, target, n_tiles);
  m.step(
      "_look_back", n_tiles,
      [&](Team& t) {
        Builder& k = t.k;
        Combiner c(t, t.problem.op);
        Tiles tiles(t, c);
        blocks::LookBack back(t, c, memory);
        const Value tile = back.tile();
        const Value from = k.mul(tile, tiles.size());
        flat.begin(k, from);
        tiles.scan(kir::i64(0), from, t.host(one.length),
                   [&](const Values& total) { return back.before(tile, total); });
        back.finish();
      },
      true);
  return m.take();
}

}  // namespace kenaz::primitives::scan::look_back

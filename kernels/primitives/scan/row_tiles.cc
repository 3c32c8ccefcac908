#include <algorithm>

#include "kernels/primitives/blocks/look_back.h"
#include "kernels/primitives/scan/flat.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::row_tiles {

namespace {

/// With tiles that leave room for the second combiner, of values with flags.
Facts beside_flags(Facts f, const Target& target) {
  const int op = plan::bytes_of(f.op.types), flag = 4;
  const int bytes = op + plan::bytes_of(f.carried);
  const int per_thread = room_for_tiles(f, target) - op - flag;
  f.items = std::clamp(per_thread / bytes - 2, 1, f.items > 0 ? f.items : 16);
  return f;
}

HostExpr tiles_per_segment(const Facts& f, const Target& target) {
  return max(div_up(f.length, tile_size(f, target)), 1);
}

// Tiles are numbered through all segments. The first of a segment has nothing before it.
void scan_tile(Team& t, Tiles& tiles, blocks::LookBack& back) {
  Builder& k = t.k;
  const Value number = back.tile();
  const Value per_segment = t.host(tiles_per_segment(t.facts, t.target));
  const Value segment = k.quot(number, per_segment);
  const Value from = k.mul(k.sub(number, k.mul(segment, per_segment)), tiles.size());
  tiles.scan(segment, from, t.host(t.facts.length), [&](const Values& total) {
    const Value first = k.eq(from, 0);
    Values published = total;
    published.insert(published.begin(), first);
    const Values found = back.before(number, published);
    const Values before(found.begin() + 1, found.end());
    return k.if_values(
        first, [&] { return t.problem.op.neutral; }, [&] { return before; });
  });
}

}  // namespace

// A tile's flag is that of its first element, so no element needs one.
bool applies(const Facts& f, const Target& target) {
  const bool quick = f.op.types.size() == 1 && f.op.known[0] != nullptr;
  return !f.segments.is(1) && quick && target.forward_progress;
}

HostExpr when(const Facts& f, const Target& target) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const HostExpr fits = le(f.segments * f.length, kMost);
  // One thread's loops go over all tiles before its own, in the worst case.
  const HostExpr tiles = f.segments * tiles_per_segment(beside_flags(f, target), target);
  return target.max_turns > 0 ? and_(fits, le(tiles, plan::turn_budget(target))) : fits;
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  const Facts small = beside_flags(f, target);
  plan::Maker m(small, target, bind);
  const HostExpr n_groups = f.segments * tiles_per_segment(small, target);
  const plan::OpFacts flagged = flagged_facts(f.op);
  const auto memory = blocks::LookBack::memory(m, flagged, target, n_groups);
  m.step(
      "_row_tiles", n_groups,
      [&](Team& t) {
        Combiner c(t, t.problem.op), between(t, flagged_operator(t.problem.op));
        Tiles tiles(t, c);
        blocks::LookBack back(t, between, memory);
        scan_tile(t, tiles, back);
        back.finish();
      },
      true);
  return m.take();
}

}  // namespace kenaz::primitives::scan::row_tiles

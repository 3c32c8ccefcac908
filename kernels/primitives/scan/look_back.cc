#include "kernels/primitives/blocks/look_back.h"

#include "kernels/primitives/scan/flat.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/range.h"
#include "kernels/primitives/scan/strips.h"

namespace kenaz::primitives::scan::look_back {

namespace {

// Tiles of a workgroup. It waits for memory and for others as long for some as for one; to know
// what they come to it makes their elements twice, the second time of what caches still have. 2^24
// matrices of 2x2 take 290 us by eight tiles, 273 us by sixteen. What elements gather they may not:
// a sparse product of 2^24 elements took 476 us, and 346 us by tiles.
HostExpr tiles_each(const Facts& f, const Target& target) {
  constexpr int kMost = 16;
  const HostExpr tiles = div_up(f.length, tile_size(f, target));
  // An eighth of those that fill the device: as many as it has multiprocessors, or so.
  const HostExpr groups = max(HostExpr::op(ScalarOp::kQuot, {plan::groups_to_fill(target), 8}), 1);
  return max(min(HostExpr::op(ScalarOp::kQuot, {tiles, groups}), kMost), 1);
}

void scan_tiles(Team& t, Flat& flat, Combiner& c, blocks::LookBack& back, const HostExpr& share) {
  Builder& k = t.k;
  Tiles tiles(t, c);
  const Value number = back.tile(), elements = t.host(share);
  const Value from = k.mul(number, elements);
  const Value to = k.min(k.add(from, elements), t.host(t.facts.length));
  flat.begin(k, from);
  const Values before = back.before(number, fold_range(t, c, from, to));
  scan_range(t, c, tiles, kir::i64(0), from, to, before,
             [&](const Value& at) { flat.begin(k, at); });
}

void scan_tile(Team& t, Flat& flat, Combiner& c, blocks::LookBack& back, const HostExpr& size) {
  const Value number = back.tile(), from = t.k.mul(number, t.host(size));
  flat.begin(t.k, from);
  scan_group_tile(t, c, from, [&](const Values& total) { return back.before(number, total); });
}

}  // namespace

bool applies(const Facts&, const Target& target) { return target.forward_progress; }

// In one pass tiles wait for each other, in two nothing does, but data is read twice. On an H200
// strips are always faster; of others the two are even at about 10^7 elements, of small tuples,
// which take long to combine, at twice as many.
HostExpr when(const Facts& f, const Target& target) {
  constexpr int64_t kMost = int64_t{1} << 23;
  constexpr int kSmallTuple = 16;
  const bool tuple = f.op.types.size() > 1 && plan::bytes_of(f.op.types) <= kSmallTuple;
  const HostExpr fits = Strips::fit(f, target)
                            ? HostExpr::boolean(true)
                            : le(f.segments * f.length, tuple ? 2 * kMost : kMost);
  // One thread's loops go over all tiles before its own, in the worst case.
  const HostExpr tiles = div_up(f.segments * f.length, group_tile_size(f, target));
  return target.max_turns > 0 ? and_(fits, le(tiles, plan::turn_budget(target))) : fits;
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Flat flat(f, bind);
  const Facts& one = flat.facts();
  plan::Maker m(one, target, flat.bind());
  // Where combining takes an instruction, tiles are large and their work is that of memory.
  const bool quick = one.op.types.size() == 1 && one.op.known[0] != nullptr;
  const bool strips = Strips::fit(one, target);
  const bool several = !quick && !one.slow && !one.gathers;
  const HostExpr each = several ? tiles_each(one, target) : HostExpr(1);
  const HostExpr share = group_tile_size(one, target) * each;
  const HostExpr n_groups = div_up(one.length, share);
  const auto memory = blocks::LookBack::memory(m, one.op, target, n_groups, strips);
  m.step(
      "_look_back", n_groups,
      [&](Team& t) {
        Combiner c(t, t.problem.op);
        blocks::LookBack back(t, c, memory);
        several ? scan_tiles(t, flat, c, back, share) : scan_tile(t, flat, c, back, share);
        back.finish();
      },
      true);
  if (strips) blocks::LookBack::clear(m, one.op, target, memory);
  return m.take();
}

}  // namespace kenaz::primitives::scan::look_back

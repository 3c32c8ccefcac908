#include "kernels/primitives/blocks/look_back.h"

#include "kernels/primitives/pack/plan_functions.h"
#include "kernels/primitives/pack/tiles.h"

namespace kenaz::primitives::pack::look_back {

namespace {

// Tiles wait for each other, so there are few and large ones.
constexpr int kThreads = 512;

}  // namespace

// Where a class begins is known before all elements are counted only if there is one.
bool applies(const Facts& f, const Target& target) {
  return target.forward_progress && f.classes == 1 && !f.rest;
}

HostExpr when(const Facts& f, const Target& target) {
  constexpr int64_t kMostNarrow = 0x7fffffff;
  const HostExpr fits = le(f.length, kMostNarrow);
  // One thread's loops go over all tiles before its own, in the worst case.
  const HostExpr tiles = div_up(f.length, tile_size(f, target, kThreads));
  return target.max_turns > 0 ? and_(fits, le(tiles, plan::turn_budget(target))) : fits;
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind, kThreads);
  const HostExpr n_tiles = max(div_up(f.length, tile_size(f, target, kThreads)), 1);
  const plan::Operator op = counting(f, PrimType::kI32);
  const auto memory = blocks::LookBack::memory(m, op.facts, target, n_tiles);
  m.step(
      "_look_back", n_tiles,
      [&](Team& t) {
        Builder& k = t.k;
        Combiner c(t, op);
        Tiles tiles(t, kThreads);
        blocks::LookBack back(t, c, memory);
        const Value tile = back.tile(), length = t.host(f.length);
        const Value from = k.mul(tile, tiles.size());
        const kir::Var end = k.declare(kir::i64(0));
        tiles.tile(from, length, [&](const Values& counts) {
          const Value before = k.to_i64(back.before(tile, counts)[0]);
          k.assign(end, k.add(before, k.to_i64(counts[0])));
          return Values{before};
        });
        back.finish();
        const Value last = k.eq(tile, k.sub(t.host(n_tiles), 1));
        k.if_(k.and_(last, k.eq(k.local(), 0)), [&] { t.problem.counts(k, {k.read(end)}); });
      },
      true);
  return m.take();
}

}  // namespace kenaz::primitives::pack::look_back

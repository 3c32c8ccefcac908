#include "kernels/primitives/blocks/boxes.h"
#include "kernels/primitives/pack/plan_functions.h"
#include "kernels/primitives/pack/totals.h"

namespace kenaz::primitives::pack::count_then_place {

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  // Each workgroup has as many tiles, one after the other. There is one even without elements, for
  // somebody must say that there are none.
  const HostExpr tile = tile_size(f, target), n_tiles = div_up(f.length, tile);
  const int64_t budget = plan::turn_budget(target) / turns_per_tile(f, target);
  const HostExpr bounded = div_up(n_tiles, std::max<int64_t>(budget, 1));
  const HostExpr wanted = max(min(n_tiles, plan::groups_to_fill(target) * 2), bounded);
  const HostExpr share = max(div_up(n_tiles, max(wanted, 1)), 1) * tile;
  const HostExpr groups = max(div_up(f.length, share), 1);
  // One box more, which gets the totals.
  const HostExpr boxes = groups + 1;
  const std::vector<PrimType> types(static_cast<size_t>(f.classes), PrimType::kI64);
  const plan::ScratchId counts = m.scratch(blocks::Mailboxes::bytes(types, boxes));
  const plan::ScratchId ticket = m.scratch(16, true);
  const auto range = [&](Team& t) {
    Builder& k = t.k;
    const Value from = k.mul(k.group(), t.host(share));
    return std::pair{from, k.min(k.add(from, t.host(share)), t.host(f.length))};
  };
  m.step("_count", groups, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, counting(f, PrimType::kI64));
    blocks::LastArrival arrival(t);
    const auto [from, to] = range(t);
    const Values mine = count(t, c, from, to);
    blocks::Mailboxes all(t, t.block(counts), types, t.host(boxes));
    k.if_(k.eq(k.local(), 0), [&] {
      all.store(k.group(), mine);
      k.if_(k.eq(k.group(), 0), [&] { all.store(t.host(groups), c.op().neutral); });
    });
    const Value last = arrival.arrives({t.block(ticket), kir::i32(0)}, t.host(groups));
    // The others scan nothing, because there are barriers in it.
    blocks::scan_boxes(t, c, all, k.select(last, t.host(boxes), kir::i64(0)));
  });
  m.step("_place", groups, [&](Team& t) {
    Builder& k = t.k;
    Tiles tiles(t);
    const auto [from, to] = range(t);
    blocks::Mailboxes all(t, t.block(counts), types, t.host(boxes));
    const Values totals = all.load(t.host(groups));
    tiles.range(from, to, k.declare(starts(k, f, totals, all.load(k.group()), from)));
    const Value first = k.and_(k.eq(k.group(), 0), k.eq(k.local(), 0));
    k.if_(first, [&] { t.problem.counts(k, totals); });
  });
  return m.take();
}

}  // namespace kenaz::primitives::pack::count_then_place

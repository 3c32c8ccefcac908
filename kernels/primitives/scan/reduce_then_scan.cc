#include "kernels/primitives/blocks/boxes.h"
#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/scan/flat.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/range.h"

namespace kenaz::primitives::scan::reduce_then_scan {

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Flat flat(f, bind);
  const Facts& one = flat.facts();
  plan::Maker m(one, target, flat.bind());
  // Each workgroup has as many tiles, one after the other.
  const HostExpr tile = tile_size(one, target), n_tiles = div_up(one.length, tile);
  const int64_t budget = plan::turn_budget(target) / turns_per_tile(one, target);
  const HostExpr bounded = div_up(n_tiles, std::max<int64_t>(budget, 1));
  const HostExpr wanted = max(min(n_tiles, plan::groups_to_fill(target) * 2), bounded);
  const HostExpr share = div_up(n_tiles, max(wanted, 1)) * tile;
  const HostExpr groups = div_up(one.length, max(share, 1));
  const plan::ScratchId partials = m.scratch(blocks::Mailboxes::bytes(one.op.types, groups));
  const plan::ScratchId ticket = m.scratch(16, true);
  const auto range = [&](Team& t) {
    Builder& k = t.k;
    const Value from = k.mul(k.group(), t.host(share)), length = t.host(one.length);
    flat.begin(k, from);
    return std::pair{from, k.min(k.add(from, t.host(share)), length)};
  };
  m.step("_totals", groups, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, t.problem.op);
    blocks::LastArrival arrival(t);
    const auto [from, to] = range(t);
    const Values r = fold_range(t, c, from, to);
    blocks::Mailboxes boxes(t, t.block(partials), one.op.types, t.host(groups));
    k.if_(k.eq(k.local(), 0), [&] { boxes.store(k.group(), r); });
    const Value last = arrival.arrives({t.block(ticket), kir::i32(0)}, t.host(groups));
    // The others scan nothing, because there are barriers in it.
    blocks::scan_boxes(t, c, boxes, k.select(last, t.host(groups), kir::i64(0)));
  });
  m.step("_scan", groups, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, t.problem.op);
    Tiles tiles(t, c);
    const auto [from, to] = range(t);
    blocks::Mailboxes boxes(t, t.block(partials), one.op.types, t.host(groups));
    scan_range(t, c, tiles, kir::i64(0), from, to, boxes.load(k.group()),
               [&](const Value& at) { flat.begin(k, at); });
  });
  return m.take();
}

}  // namespace kenaz::primitives::scan::reduce_then_scan

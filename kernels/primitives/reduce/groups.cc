#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/partials.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::groups {

namespace {

// Whether combining takes an instruction or two.
bool is_quick(const plan::OpFacts& op) {
  return std::all_of(op.known.begin(), op.known.end(), [](const auto* row) { return row; });
}

}  // namespace

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr tile = tile_size(f), tiles = div_up(f.length, tile);
  // What the workgroups found is combined by one of them while all others are done. So there are as
  // many as fill the device, or twice as many where their own time is not that of memory, but a
  // thread has some elements for each value that it combines with other threads' in steps.
  const bool quick = is_quick(f.op);
  constexpr int kElements = 16;
  const int tiles_at_least = quick ? 1 : std::max(1, kElements / blocks::items_in_flight(f));
  const HostExpr filling = plan::groups_to_fill(target) * HostExpr(quick ? 1 : 2);
  const HostExpr wanted = div_up(filling, max(f.segments, 1));
  const HostExpr bounded = div_up(tiles, plan::turn_budget(target));
  const HostExpr most = max(max(min(div_up(tiles, tiles_at_least), wanted), bounded), 1);
  // .. and none is without elements.
  const HostExpr tiles_each = max(div_up(tiles, most), 1);
  const HostExpr parts = max(div_up(tiles, tiles_each), 1);
  const HostExpr all = f.segments * parts;
  const plan::ScratchId partials = m.scratch(blocks::Mailboxes::bytes(f.op.types, all));
  const plan::ScratchId tickets = m.scratch(f.segments * 4, true);
  m.step("_groups", all, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, t.problem.op);
    blocks::LastArrival arrival(t);
    const Value n_parts = t.host(parts), length = t.host(f.length);
    const bool one = f.segments.is(1);
    const Value segment = one ? kir::i64(0) : k.quot(k.group(), n_parts);
    const Value part = one ? k.group() : k.sub(k.group(), k.mul(segment, n_parts));
    const Value share = t.host(tiles_each * tile);
    const Value from = k.min(k.mul(part, share), length);
    const Values r = fold_by_group(t, c, segment, from, k.min(k.add(from, share), length));
    k.if_(
        k.eq(n_parts, 1),
        [&] {
          k.if_(k.eq(k.local(), 0), [&] { t.problem.sink.put(k, {segment, kir::i64(0)}, r); });
        },
        [&] {
          blocks::Mailboxes boxes(t, t.block(partials), f.op.types, t.host(all));
          k.if_(k.eq(k.local(), 0), [&] { boxes.store(k.group(), r); });
          const Value last = arrival.arrives({t.block(tickets), segment}, n_parts);
          // The others combine nothing, because there are barriers in it.
          const Value count = k.select(last, n_parts, kir::i64(0));
          const Values total = fold_partials(t, c, boxes, k.mul(segment, n_parts), count);
          k.if_(k.and_(last, k.eq(k.local(), 0)), [&] {
            t.problem.sink.put(k, {segment, kir::i64(0)}, total);
          });
        });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::groups

#include "kernels/primitives/hist/bins.h"

#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/blocks/places.h"

namespace kenaz::primitives::hist {

namespace {

constexpr int kLoadsInFlight = 8;  // of a thread that merges

}  // namespace

Values load_bin(Team& t, const Value& index) {
  Values out;
  for (size_t n = 0; n < t.problem.bins.size(); n++) {
    out.push_back(t.k.load(t.facts.op.types[n], t.problem.bins[n], index));
  }
  return out;
}

void store_bin(Team& t, const Value& index, const Values& x) {
  for (size_t n = 0; n < x.size(); n++) t.k.store(t.problem.bins[n], index, x[n]);
}

Cells cells_in_place(Team& t) {
  Cells::Bases bases;
  for (const Value& b : t.problem.bins) bases.emplace_back(b);
  return {t, t.problem.op, false, std::move(bases)};
}

Item item_of(const Values& element) {
  return {element[0], Values(element.begin() + 1, element.end())};
}

HostExpr groups_for_cells(const Facts& f, const Target& target) {
  const HostExpr group = plan::Maker::group_size(), all = f.segments * f.length;
  const HostExpr tiles = div_up(all, group * HostExpr(blocks::items_in_flight(f)));
  // A thread's loops have several iterations for each of its elements.
  const HostExpr bounded =
      div_up(all, group * std::max<int64_t>(plan::turn_budget(target) / 64, 1));
  return max(min(tiles, plan::groups_to_fill(target) * 4), bounded);
}

void update_cells(Team& t, Cells& cells) {
  Builder& k = t.k;
  const Value bins = t.host(t.facts.bins), length = t.host(t.facts.length);
  const auto update = [&](const Value& segment, const Values& element) {
    const Item item = item_of(element);
    k.if_(k.le(kir::i64(0), item.bin),
          [&] { cells.update(k.add(k.mul(segment, bins), item.bin), item.x); });
  };
  if (t.facts.segments.is(1)) {
    const Value tile = k.mul(t.group_size_i64(), blocks::items_in_flight(t.facts));
    const Value share = k.mul(k.div_up(k.div_up(length, tile), k.groups()), tile);
    const Value from = k.min(k.mul(k.group(), share), length);
    blocks::for_striped(t, kir::i64(0), from, k.min(k.add(from, share), length),
                        [&](const Values& x) { update(kir::i64(0), x); });
    return;
  }
  blocks::Places places(length);
  places.begin(k, k.mul(k.group(), t.group_size_i64()));
  k.for_(k.global(), k.mul(t.host(t.facts.segments), length), k.threads(), [&](const Value& i) {
    const plan::Place at = places.at(k, i);
    update(at.segment, t.problem.elements.at(k, at));
  });
}

Copies make_copies(plan::Maker& m, const Facts& f, const HostExpr& parts) {
  return {parts, m.scratch(blocks::Mailboxes::bytes(f.op.types, f.segments * parts * f.bins))};
}

blocks::Mailboxes boxes_of(Team& t, const Copies& c) {
  const HostExpr count = t.facts.segments * c.parts * t.facts.bins;
  return {t, t.block(c.block), t.facts.op.types, t.host(count), kir::Order::kPlain};
}

Value first_box(Team& t, const Copies& c, const Value& segment, const Value& part) {
  Builder& k = t.k;
  return k.mul(k.add(k.mul(segment, t.host(c.parts)), part), t.host(t.facts.bins));
}

// Neighbouring bins that a workgroup merges, a thread for each, or several that share the copies of
// one: so many bins as there are threads, unless these do not fill the device.
static HostExpr bins_to_merge(const plan::Maker& m, const HostExpr& all, const Target& target) {
  constexpr int kFew = 8;
  const HostExpr group = m.group_size();
  const HostExpr is_multiple =
      le(HostExpr::op(ScalarOp::kRem, {group, HostExpr(kFew)}), HostExpr(0));
  const HostExpr few = and_(le(all * HostExpr(kFew * 2), target.threads), is_multiple);
  return HostExpr::op(ScalarOp::kSelect, {few, min(HostExpr(kFew), group), group});
}

void merge_step(plan::Maker& m, const Facts& f, const Target& target, const Copies& c) {
  const HostExpr all = f.segments * f.bins, width = bins_to_merge(m, all, target);
  m.step("_merge", div_up(all, width), [&](Team& t) {
    Builder& k = t.k;
    blocks::Combiner combiner(t, t.problem.op);
    const Value bins = t.host(f.bins), columns = k.to_i32(t.host(width));
    const Value lane = k.quot(k.local(), columns);
    const Value column = k.sub(k.local(), k.mul(lane, columns));
    const Value index = k.add(k.mul(k.group(), k.to_i64(columns)), k.to_i64(column));
    const Value exists = k.lt(index, t.host(all)), stores = k.and_(exists, k.eq(lane, 0));
    const kir::Vars acc = k.declare(t.problem.op.neutral);
    k.if_(stores, [&] { k.assign(acc, load_bin(t, index)); });
    k.if_(exists, [&] {
      blocks::Mailboxes boxes = boxes_of(t, c);
      const Value segment = f.segments.is(1) ? kir::i64(0) : k.quot(index, bins);
      const Value bin = k.sub(index, k.mul(segment, bins));
      const Value first = k.add(first_box(t, c, segment, kir::i64(0)), bin);
      const Value lanes = k.to_i64(k.quot(t.group_size(), columns));
      const auto take = [&](const Value& part, int count) {
        std::vector<Values> loaded;
        for (int n = 0; n < count; n++) {
          const Value box = k.mul(k.add(part, k.mul(lanes, kir::i64(n))), bins);
          loaded.push_back(boxes.load(k.add(first, box)));
        }
        for (const Values& x : loaded) k.assign(acc, t.problem.op.combine(k, k.read(acc), x));
      };
      // Turns of a lane, of which the last ones may be beyond the copies.
      const Value parts = t.host(c.parts), from = k.to_i64(lane);
      const Value step = k.mul(lanes, kir::i64(kLoadsInFlight));
      const Value full = k.mul(k.quot(parts, step), step);
      k.for_(from, full, step, [&](const Value& part) { take(part, kLoadsInFlight); });
      k.for_(k.add(full, from), parts, lanes, [&](const Value& part) { take(part, 1); });
    });
    const Values merged = combiner.reduce_columns(k.read(acc), columns);
    k.if_(stores, [&] { store_bin(t, index, merged); });
  });
}

}  // namespace kenaz::primitives::hist

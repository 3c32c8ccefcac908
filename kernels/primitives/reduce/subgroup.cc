#include <algorithm>

#include "kernels/primitives/blocks/part.h"
#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::subgroup {

namespace {

using blocks::Part;

constexpr int kLongest = 1024;

// Combines with `acc` what a lane takes at once: as many elements at `from` as are loaded at a
// time, and as many at each `step` behind it, as far as they are before `end`. The first are.
void fold_share(Team& t, const Value& segment, const Value& from, const Value& step,
                const Value& end, const kir::Vars& acc) {
  Builder& k = t.k;
  const plan::Operator& op = t.problem.op;
  const int items = blocks::items_in_flight(t.facts), n = std::min(items, t.facts.widest);
  const Value last = k.sub(end, n);
  std::vector<Value> inside;
  std::vector<std::vector<Values>> loaded;
  for (int j = 0; j < items / n; j++) {
    const Value at = k.add(from, k.mul(step, j));
    inside.push_back(k.lt(at, end));
    // What is behind the end is the last place again: all loads are on their way without a branch.
    loaded.push_back(blocks::neighbours(t, segment, j == 0 ? at : k.min(at, last), n));
  }
  for (size_t j = 0; j < loaded.size(); j++) {
    Values x = loaded[j][0];
    for (size_t i = 1; i < loaded[j].size(); i++) x = op.combine(k, x, loaded[j][i]);
    if (j > 0) x = blocks::select(k, inside[j], x, op.neutral);
    k.assign(acc, op.combine(k, k.read(acc), x));
  }
}

// Every lane of the part gets the segment's value. `live`: there is such a segment.
Values fold_by_part(Team& t, Combiner& c, const Part& p, const Value& segment, const Value& live,
                    const Value& length) {
  Builder& k = t.k;
  const int items = blocks::items_in_flight(t.facts), n = std::min(items, t.facts.widest);
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  const Value lane = k.to_i64(p.lane), width = k.to_i64(p.width), turn = k.mul(width, items);
  const Value end = k.select(live, length, kir::i64(0));
  if (t.problem.op.facts.commutative) {
    const Value step = k.mul(width, n);
    k.for_(k.mul(lane, n), end, turn,
           [&](const Value& at) { fold_share(t, segment, at, step, end, acc); });
    return c.part_reduce(k.read(acc), p.log2_width);
  }
  k.for_(
      kir::i64(0), length, turn,
      [&](const Value& from) {
        const Value at = k.add(from, k.mul(lane, items));
        const kir::Vars share = k.declare(t.problem.op.neutral);
        k.if_(k.lt(at, end), [&] { fold_share(t, segment, at, kir::i64(n), end, share); });
        k.assign(acc, c.combine(k.read(acc), c.part_reduce(k.read(share), p.log2_width)));
      },
      true);
  return k.read(acc);
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  return !f.segments.is(1) && plan::has_subgroups(target);
}

HostExpr when(const Facts& f, const Target& target) {
  // Few segments fill the device better with a workgroup each.
  const HostExpr enough = le(plan::groups_to_fill(target), f.segments);
  return or_(le(f.length, target.subgroup_size), and_(le(f.length, kLongest), enough));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_subgroup", blocks::groups_of_parts(f, target, blocks::items_in_flight(f)), [&](Team& t) {
    Builder& k = t.k;
    const Value length = t.host(f.length);
    Combiner c(t, t.problem.op);
    const Part p = blocks::part_of(t, length, blocks::items_in_flight(f));
    blocks::for_segments(t, p, [&](const Value& segment, const Value& live) {
      const Values r = fold_by_part(t, c, p, segment, live, length);
      k.if_(k.and_(live, k.eq(p.lane, 0)), [&] {
        t.problem.sink.put(k, {segment, kir::i64(0)}, r);
      });
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::subgroup

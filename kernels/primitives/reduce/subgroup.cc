#include "kernels/primitives/blocks/part.h"
#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::subgroup {

namespace {

using blocks::Part;

constexpr int kLongest = 1024;

// Every lane of the part gets the segment's value. `live`: there is such a segment.
Values fold_by_part(Team& t, Combiner& c, const Part& p, const Value& segment, const Value& live,
                    const Value& length) {
  Builder& k = t.k;
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  const Value lane = k.to_i64(p.lane), width = k.to_i64(p.width);
  if (t.problem.op.facts.commutative) {
    const int n = t.facts.widest;
    const Value chunk = k.mul(width, n);
    const Value end = k.select(live, length, kir::i64(0));
    k.for_(k.mul(lane, n), end, chunk,
           [&](const Value& at) { fold_alone(t, segment, at, k.min(k.add(at, n), end), n, acc); });
    return c.part_reduce(k.read(acc), p.log2_width);
  }
  k.for_(
      k.div_up(length, width),
      [&](const Value& turn) {
        const Value at = k.add(k.mul(turn, width), lane);
        const Values x = k.if_values(
            k.and_(live, k.lt(at, length)),
            [&] {
              return t.problem.elements.at(k, {segment, at});
            },
            [&] { return t.problem.op.neutral; });
        k.assign(acc, c.combine(k.read(acc), c.part_reduce(x, p.log2_width)));
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
  m.step("_subgroup", blocks::groups_of_parts(f, target), [&](Team& t) {
    Builder& k = t.k;
    const Value length = t.host(f.length);
    Combiner c(t, t.problem.op);
    const Part p = blocks::part_of(t, length);
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

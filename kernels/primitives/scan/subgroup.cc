#include "kernels/primitives/blocks/part.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::subgroup {

namespace {

using blocks::Part;

constexpr int kLongest = 256;  // longer ones have a tile that is worth a workgroup

void scan_by_part(Team& t, Combiner& c, const Part& p, const Value& segment, const Value& live) {
  Builder& k = t.k;
  const Value length = t.host(t.facts.length);
  const Value lane = k.to_i64(p.lane), width = k.to_i64(p.width);
  const Value last = k.or_(k.lane(), k.sub(p.width, 1));
  const auto scanned = static_cast<std::ptrdiff_t>(t.facts.op.types.size());
  const kir::Vars carry = k.declare(t.problem.op.neutral);
  k.for_(
      k.div_up(length, width),
      [&](const Value& turn) {
        const Value at = k.add(k.mul(turn, width), lane);
        const Value has = k.and_(live, k.lt(at, length));
        Values none = t.problem.op.neutral;
        for (const PrimType type : t.facts.carried) none.emplace_back(PrimValue{type, 0});
        const Values x = k.if_values(
            has,
            [&] {
              return t.problem.elements.at(k, {segment, at});
            },
            [&] { return none; });
        const Values mine = c.part_inclusive(Values(x.begin(), x.begin() + scanned), p.log2_width);
        Values out = c.combine(k.read(carry), mine);
        Values end;
        for (const Value& v : out) end.push_back(k.shuffle(kir::SubgroupOp::kShuffle, v, last));
        k.assign(carry, end);
        out.insert(out.end(), x.begin() + scanned, x.end());
        k.if_(has, [&] { t.problem.sink.put(k, {segment, at}, out); });
      },
      true);
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  return !f.segments.is(1) && plan::has_subgroups(target);
}

HostExpr when(const Facts& f, const Target&) { return le(f.length, kLongest); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_subgroup", blocks::groups_of_parts(f, target), [&](Team& t) {
    Combiner c(t, t.problem.op);
    const Part p = blocks::part_of(t, t.host(f.length));
    blocks::for_segments(t, p, [&](const Value& segment, const Value& live) {
      scan_by_part(t, c, p, segment, live);
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::scan::subgroup

#include "kernels/primitives/blocks/part.h"

#include "kernels/primitives/blocks/combine.h"

namespace kenaz::primitives::blocks {

Part part_of(plan::Team& t, const Value& length, int items) {
  Builder& k = t.k;
  const Value bounded = k.to_i32(k.min(k.div_up(length, kir::i64(items)), kir::i64(1 << 20)));
  const Value below = k.max(k.sub(bounded, 1), kir::i32(0));
  const Value zeros = k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {below});
  const Value log2_width = k.min(k.sub(kir::i32(32), zeros), log2_of(k, k.subgroup_size()));
  const Value width = k.shl(kir::i32(1), log2_width);
  return {log2_width, width, k.and_(k.lane(), k.sub(width, 1))};
}

plan::HostExpr groups_of_parts(const plan::Facts& f, const program::Target& target, int items) {
  const plan::HostExpr lanes = max(min(div_up(f.length, items), target.subgroup_size), 1);
  return div_up(f.segments * lanes, plan::Maker::group_size());
}

void for_segments(plan::Team& t, const Part& p,
                  const std::function<void(const Value& segment, const Value& live)>& body) {
  Builder& k = t.k;
  const Value segments = t.host(t.facts.segments);
  // By shifts: a division of 64 bits takes a hundred instructions, which is more than all the rest.
  const Value shift = k.to_i64(p.log2_width);
  const Value first = k.lshr(k.global(), shift);
  const Value parts = k.lshr(k.threads(), shift);
  const kir::Var segment = k.declare(first);
  const kir::Var before = k.declare(kir::i64(0));  // segments that all parts have taken
  k.while_([&] { return k.lt(k.read(before), segments); },
           [&] {
             const Value at = k.read(segment);
             body(at, k.lt(at, segments));
             k.assign(segment, k.add(at, parts));
             k.assign(before, k.add(k.read(before), parts));
           },
           true);
}

}  // namespace kenaz::primitives::blocks

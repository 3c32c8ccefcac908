#include "kernels/primitives/blocks/part.h"

#include "kernels/primitives/blocks/combine.h"

namespace kenaz::primitives::blocks {

Part part_of(plan::Team& t, const Value& length) {
  Builder& k = t.k;
  const Value bounded = k.to_i32(k.min(length, kir::i64(1 << 20)));
  const Value below = k.max(k.sub(bounded, 1), kir::i32(0));
  const Value zeros = k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {below});
  const Value log2_width = k.min(k.sub(kir::i32(32), zeros), log2_of(k, k.subgroup_size()));
  const Value width = k.shl(kir::i32(1), log2_width);
  return {log2_width, width, k.and_(k.lane(), k.sub(width, 1))};
}

plan::HostExpr groups_of_parts(const plan::Facts& f, const program::Target& target) {
  const plan::HostExpr lanes = max(min(f.length, target.subgroup_size), 1);
  return div_up(f.segments * lanes, plan::Maker::group_size());
}

void for_segments(plan::Team& t, const Part& p,
                  const std::function<void(const Value& segment, const Value& live)>& body) {
  Builder& k = t.k;
  const Value width = k.to_i64(p.width), segments = t.host(t.facts.segments);
  const Value first = k.quot(k.global(), width);
  const Value parts = k.quot(k.threads(), width);
  k.for_(
      k.div_up(segments, parts),
      [&](const Value& turn) {
        const Value segment = k.add(first, k.mul(turn, parts));
        body(segment, k.lt(segment, segments));
      },
      true);
}

}  // namespace kenaz::primitives::blocks

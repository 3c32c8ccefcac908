#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::group {

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr tile = tile_size(f);
  const HostExpr fits = le(f.length, tile * HostExpr(plan::turn_budget(target)));
  const HostExpr enough = le(plan::groups_to_fill(target), f.segments);
  return or_(le(f.length, tile * 4), and_(enough, fits));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_group", f.segments, [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, t.problem.op);
    const Value segment = f.segments.is(1) ? kir::i64(0) : k.group();
    const Values r = fold_by_group(t, c, segment, kir::i64(0), t.host(f.length));
    k.if_(k.eq(k.local(), 0), [&] { t.problem.sink.put(k, {segment, kir::i64(0)}, r); });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::group

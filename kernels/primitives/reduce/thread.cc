#include <algorithm>

#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::thread {

bool applies(const Facts& f, const Target&) { return !f.segments.is(1); }

HostExpr when(const Facts& f, const Target& target) {
  // Then neighbouring threads read whole lines of the cache between them, by a few loads each.
  constexpr int kBytes = 64;
  const int most = std::max(8, kBytes / std::max(plan::bytes_of(f.op.types), 1));
  const HostExpr is_short = le(f.length, std::min(most, 16));
  if (!f.across) return is_short;
  // Segments enough for all threads of the device: there is nothing to share or to combine.
  const HostExpr fills =
      and_(le(target.threads, f.segments), le(f.length, plan::turn_budget(target)));
  return or_(is_short, fills);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_thread", div_up(f.segments, m.group_size()), [&](Team& t) {
    Builder& k = t.k;
    const Value segment = k.global();
    k.if_(k.lt(segment, t.host(f.segments)), [&] {
      const kir::Vars acc = k.declare(t.problem.op.neutral);
      const int together = f.slow ? 1 : std::max(f.widest, 4);
      fold_alone(t, segment, kir::i64(0), t.host(f.length), together, acc);
      t.problem.sink.put(k, {segment, kir::i64(0)}, k.read(acc));
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::thread

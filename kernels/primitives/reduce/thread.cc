#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::thread {

bool applies(const Facts& f, const Target&) { return !f.segments.is(1); }

HostExpr when(const Facts& f, const Target&) { return le(f.length, 8); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_thread", div_up(f.segments, m.group_size()), [&](Team& t) {
    Builder& k = t.k;
    const Value segment = k.global();
    k.if_(k.lt(segment, t.host(f.segments)), [&] {
      const kir::Vars acc = k.declare(t.problem.op.neutral);
      fold_alone(t, segment, kir::i64(0), t.host(f.length), f.widest, acc);
      t.problem.sink.put(k, {segment, kir::i64(0)}, k.read(acc));
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::thread

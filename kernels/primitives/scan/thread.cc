#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::thread {

bool applies(const Facts& f, const Target&) { return !f.segments.is(1); }

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr is_short = le(f.length, 8);
  if (!f.across) return is_short;
  // Neighbouring threads read neighbours whatever the length.
  const HostExpr enough = le(target.threads / 4, f.segments);
  return or_(is_short, and_(enough, le(f.length, plan::turn_budget(target))));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_thread", div_up(f.segments, m.group_size()), [&](Team& t) {
    Builder& k = t.k;
    const Value segment = k.global();
    k.if_(k.lt(segment, t.host(f.segments)), [&] {
      const kir::Vars acc = k.declare(t.problem.op.neutral);
      k.for_(t.host(f.length), [&](const Value& i) {
        Values x = t.problem.elements.at(k, {segment, i});
        const auto carried = x.begin() + static_cast<std::ptrdiff_t>(f.op.types.size());
        Values out = t.problem.op.combine(k, k.read(acc), Values(x.begin(), carried));
        k.assign(acc, out);
        out.insert(out.end(), carried, x.end());
        t.problem.sink.put(k, {segment, i}, out);
      });
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::scan::thread

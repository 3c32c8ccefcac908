#include <algorithm>

#include "kernels/primitives/reduce/fold.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::neighbours {

namespace {

// Segments of a thread: results of 16 bytes, which are stored at once.
int segments_per_thread(const Facts& f) {
  constexpr int kBytes = 16, kMost = 4;
  int widest = 1;
  for (const PrimType t : f.op.types) widest = std::max(widest, prim_size(t));
  return std::min(kBytes / widest, kMost);
}

}  // namespace

bool applies(const Facts& f, const Target&) { return !f.segments.is(1) && !f.slow; }

HostExpr when(const Facts& f, const Target& target) {
  // Then neighbouring threads read whole lines of the cache between them, by a few loads each.
  constexpr int kBytes = 64;
  const int most = kBytes / (segments_per_thread(f) * std::max(plan::bytes_of(f.op.types), 1));
  return and_(le(f.length, std::max(most, 1)), le(target.threads, f.segments));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  const int n = segments_per_thread(f);
  plan::Maker m(f, target, bind);
  m.step("_neighbours", div_up(f.segments, m.group_size() * n), [&](Team& t) {
    Builder& k = t.k;
    const plan::Operator& op = t.problem.op;
    const plan::Sink& sink = t.problem.sink;
    const Value first = k.mul(k.global(), n), segments = t.host(f.segments);
    const Value length = t.host(f.length);
    const auto together = [&] {
      std::vector<kir::Vars> acc;
      for (int j = 0; j < n; j++) acc.push_back(k.declare(op.neutral));
      k.for_(kir::i64(0), length, kir::i64(1), [&](const Value& i) {
        std::vector<Values> x;
        for (int j = 0; j < n; j++) x.push_back(t.problem.elements.at(k, {k.add(first, j), i}));
        for (size_t j = 0; j < acc.size(); j++) {
          k.assign(acc[j], op.combine(k, k.read(acc[j]), x[j]));
        }
      });
      std::vector<Values> results;
      for (const kir::Vars& a : acc) results.push_back(k.read(a));
      if (n > 1 && sink.put_many) {
        sink.put_many(k, {first, kir::i64(0)}, results);
        return;
      }
      for (int j = 0; j < n; j++) {
        sink.put(k, {k.add(first, j), kir::i64(0)}, results[static_cast<size_t>(j)]);
      }
    };
    const auto one_by_one = [&] {
      k.for_(first, segments, kir::i64(1), [&](const Value& segment) {
        const kir::Vars acc = k.declare(op.neutral);
        fold_alone(t, segment, kir::i64(0), length, 1, acc);
        sink.put(k, {segment, kir::i64(0)}, k.read(acc));
      });
    };
    k.if_(k.le(k.add(first, n), segments), together, one_by_one);
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::neighbours

#include "kernels/primitives/blocks/stripes.h"

#include <algorithm>

namespace kenaz::primitives::blocks {

using kir::Value;
using kir::Values;

namespace {
constexpr int kBytesInFlight = 64;  // per thread; four accesses of 16 bytes
}  // namespace

int items_in_flight(const plan::Facts& facts) {
  if (facts.slow) return 1;
  const int bytes = std::max(1, plan::bytes_of(facts.op.types));
  const int wanted = facts.items > 0 ? facts.items : std::clamp(kBytesInFlight / bytes, 1, 16);
  // Values may be wider than what is loaded for them.
  const int least = facts.widest > 1 && facts.items == 0 ? 2 : 1;
  return std::max(least, wanted / facts.widest) * facts.widest;
}

std::vector<Values> neighbours(plan::Team& t, const Value& segment, const Value& first, int n) {
  const plan::Elements& e = t.problem.elements;
  if (n > 1 && e.many) return e.many(t.k, {segment, first}, n);
  std::vector<Values> out;
  for (int j = 0; j < n; j++) out.push_back(e.at(t.k, {segment, t.k.add(first, j)}));
  return out;
}

void for_striped(plan::Team& t, const Value& segment, const Value& from, const Value& to,
                 const std::function<void(const Values&)>& body) {
  kir::Builder& k = t.k;
  const int items = items_in_flight(t.facts);
  const int n = std::min(items, t.facts.widest);
  const Value size = t.group_size_i64(), local = k.to_i64(k.local());
  Value rest = from;
  if (items > 1) {
    const Value tile = k.mul(size, items);
    rest = k.add(from, k.mul(k.quot(k.sub(to, from), tile), tile));
    k.for_(from, rest, tile, [&](const Value& at) {
      std::vector<Values> loaded;
      const Value first = k.add(at, k.mul(local, n));
      for (int j = 0; j < items / n; j++) {
        const Value place = k.add(first, k.mul(size, static_cast<int64_t>(j) * n));
        for (Values& x : neighbours(t, segment, place, n)) loaded.push_back(std::move(x));
      }
      for (const Values& x : loaded) body(x);
    });
  }
  k.for_(k.add(rest, local), to, size, [&](const Value& i) {
    body(t.problem.elements.at(k, {segment, i}));
  });
}

}  // namespace kenaz::primitives::blocks

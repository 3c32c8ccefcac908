#include "kernels/primitives/reduce/fold.h"

#include <algorithm>

namespace kenaz::primitives::reduce {

namespace {
constexpr int kBytesInFlight = 64;  // per thread; four accesses of 16 bytes

void combine_into(Team& t, const kir::Vars& acc, const Values& x) {
  t.k.assign(acc, t.problem.op.combine(t.k, t.k.read(acc), x));
}

// Threads take turns: neighbours load neighbours.
Values fold_striped(Team& t, Combiner& c, const Value& segment, const Value& from,
                    const Value& to) {
  Builder& k = t.k;
  const int items = items_per_thread(t.facts), n = t.facts.widest;
  const Value size = t.group_size_i64(), local = k.to_i64(k.local());
  const Value tile = k.mul(size, items), count = k.sub(to, from);
  const Value full = k.mul(k.quot(count, tile), tile);
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  if (items > 1) {
    k.for_(k.same_type(full, 0), full, tile, [&](const Value& at) {
      std::vector<Values> loaded;
      const Value first = k.add(k.add(from, at), k.mul(local, n));
      for (int j = 0; j < items / n; j++) {
        const Value place = k.add(first, k.mul(size, static_cast<int64_t>(j) * n));
        for (Values& x : neighbours(t, segment, place, n)) loaded.push_back(std::move(x));
      }
      for (const Values& x : loaded) combine_into(t, acc, x);
    });
  }
  const Value rest = items > 1 ? k.add(from, full) : from;
  k.for_(k.add(rest, local), to, size, [&](const Value& i) {
    combine_into(t, acc, t.problem.elements.at(k, {segment, i}));
  });
  return c.reduce(k.read(acc));
}

// Each subgroup takes a share; its lanes take neighbouring pieces and combine them at each turn.
Values fold_by_subgroups(Team& t, Combiner& c, const Value& segment, const Value& from,
                         const Value& to) {
  Builder& k = t.k;
  const int items = items_per_thread(t.facts);
  const Value per_turn = k.mul(k.to_i64(k.subgroup_size()), items);
  const Value turns = k.div_up(k.sub(to, from), k.mul(per_turn, k.to_i64(k.subgroups())));
  const Value share = k.mul(turns, per_turn);
  const Value mine =
      k.add(k.add(from, k.mul(k.to_i64(k.subgroup()), share)), k.mul(k.to_i64(k.lane()), items));
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  k.for_(
      turns,
      [&](const Value& turn) {
        const Value at = k.add(mine, k.mul(turn, per_turn));
        const kir::Vars piece = k.declare(t.problem.op.neutral);
        fold_alone(t, segment, at, k.min(k.add(at, items), to), items, piece);
        combine_into(t, acc, c.subgroup_reduce(k.read(piece)));
      },
      true);
  return c.reduce(k.read(acc), true);
}

}  // namespace

int items_per_thread(const Facts& facts) {
  if (facts.slow) return 1;
  const int wanted = facts.items > 0
                         ? facts.items
                         : std::clamp(kBytesInFlight / plan::bytes_of(facts.op.types), 1, 16);
  return std::max(1, wanted / facts.widest) * facts.widest;
}

HostExpr tile_size(const Facts& facts) {
  return plan::Maker::group_size() * HostExpr(items_per_thread(facts));
}

std::vector<Values> neighbours(Team& t, const Value& segment, const Value& first, int n) {
  const plan::Elements& e = t.problem.elements;
  if (n > 1 && e.many) return e.many(t.k, {segment, first}, n);
  std::vector<Values> out;
  for (int j = 0; j < n; j++) out.push_back(e.at(t.k, {segment, t.k.add(first, j)}));
  return out;
}

void fold_alone(Team& t, const Value& segment, const Value& from, const Value& to, int n,
                const kir::Vars& acc) {
  Builder& k = t.k;
  const int widest = std::min(n, t.facts.widest);
  Value rest = from;
  if (n > 1) {
    const Value count = k.max(k.sub(to, from), kir::i64(0));
    const Value full = k.mul(k.quot(count, kir::i64(n)), n);
    rest = k.add(from, full);
    k.for_(from, rest, kir::i64(n), [&](const Value& i) {
      std::vector<Values> loaded;
      for (int j = 0; j < n; j += widest) {
        for (Values& x : neighbours(t, segment, k.add(i, j), widest)) {
          loaded.push_back(std::move(x));
        }
      }
      for (const Values& x : loaded) combine_into(t, acc, x);
    });
  }
  k.for_(rest, to, kir::i64(1), [&](const Value& i) {
    combine_into(t, acc, t.problem.elements.at(k, {segment, i}));
  });
}

Values fold_by_group(Team& t, Combiner& c, const Value& segment, const Value& from,
                     const Value& to) {
  if (t.problem.op.facts.commutative) return fold_striped(t, c, segment, from, to);
  if (t.has_subgroups()) return fold_by_subgroups(t, c, segment, from, to);
  Builder& k = t.k;
  const int items = items_per_thread(t.facts);
  const Value tile = k.mul(t.group_size_i64(), items);
  const Value share = k.mul(k.div_up(k.sub(to, from), tile), items);
  const Value mine = k.add(from, k.mul(k.to_i64(k.local()), share));
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  fold_alone(t, segment, mine, k.min(k.add(mine, share), to), items, acc);
  return c.reduce(k.read(acc));
}

}  // namespace kenaz::primitives::reduce

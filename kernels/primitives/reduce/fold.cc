#include "kernels/primitives/reduce/fold.h"

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::reduce {

namespace {

void combine_into(Team& t, const kir::Vars& acc, const Values& x) {
  t.k.assign(acc, t.problem.op.combine(t.k, t.k.read(acc), x));
}

Values fold_striped(Team& t, Combiner& c, const Value& segment, const Value& from,
                    const Value& to) {
  const kir::Vars acc = t.k.declare(t.problem.op.neutral);
  blocks::for_striped(t, segment, from, to, [&](const Values& x) { combine_into(t, acc, x); });
  return c.reduce(t.k.read(acc));
}

// Of an operator that does not commute each lane takes so many neighbours, at most, before lanes
// combine what they have: that takes as long as five elements and more. But where each is a row of
// its own, what the lanes of a subgroup load at a time should be in few lines of memory: on an H200
// products of 2^24 matrices of 2x2 f32 take 120 us by runs of 32, 116 us by 8 and 93 us by 4. And
// what is loaded by vectors of several arrays goes in whole lines of the cache by one of each:
// those of as many arrays and lanes do not fit there.
int64_t longest_run(const Facts& f) {
  constexpr int kBytes = 16;
  if (f.widest > 1 && plan::bytes_of(f.op.types) >= kBytes) return f.widest;
  const bool rows = f.widest == 1 && f.read_bytes >= kBytes && !f.gathers;
  return rows ? 4 : 32;
}

// Each subgroup takes a share; its lanes take neighbouring runs and combine them at each turn.
Values fold_by_subgroups(Team& t, Combiner& c, const Value& segment, const Value& from,
                         const Value& to) {
  Builder& k = t.k;
  const int items = blocks::items_in_flight(t.facts);
  const Value count = k.max(k.sub(to, from), kir::i64(0));
  const Value lanes = k.to_i64(k.subgroup_size()), subgroups = k.to_i64(k.subgroups());
  const Value fair = k.max(k.div_up(count, k.mul(lanes, subgroups)), kir::i64(1));
  const Value run =
      k.mul(k.div_up(k.min(fair, kir::i64(longest_run(t.facts))), kir::i64(items)), items);
  const Value per_turn = k.mul(lanes, run);
  const Value turns = k.div_up(count, k.mul(per_turn, subgroups));
  const Value share = k.mul(turns, per_turn);
  const Value mine =
      k.add(k.add(from, k.mul(k.to_i64(k.subgroup()), share)), k.mul(k.to_i64(k.lane()), run));
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  k.for_(
      turns,
      [&](const Value& turn) {
        const Value at = k.add(mine, k.mul(turn, per_turn));
        const kir::Vars piece = k.declare(t.problem.op.neutral);
        fold_alone(t, segment, at, k.min(k.add(at, run), to), items, piece);
        combine_into(t, acc, c.subgroup_reduce(k.read(piece)));
      },
      true);
  return c.reduce(k.read(acc), true);
}

}  // namespace

HostExpr tile_size(const Facts& facts) {
  return plan::Maker::group_size() * HostExpr(blocks::items_in_flight(facts));
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
        for (Values& x : blocks::neighbours(t, segment, k.add(i, j), widest)) {
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
  const int items = blocks::items_in_flight(t.facts);
  const Value tile = k.mul(t.group_size_i64(), items);
  const Value share = k.mul(k.div_up(k.sub(to, from), tile), items);
  const Value mine = k.add(from, k.mul(k.to_i64(k.local()), share));
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  fold_alone(t, segment, mine, k.min(k.add(mine, share), to), items, acc);
  return c.reduce(k.read(acc));
}

}  // namespace kenaz::primitives::reduce

#include "kernels/primitives/blocks/ahead.h"

#include <algorithm>

namespace kenaz::primitives::blocks {

using plan::Facts;
using plan::HostExpr;
using program::Target;

namespace {

// Boxes of a chunk per thread; a power of two, as a subgroup's size is.
int64_t share_of_chunk(const Facts& f) { return f.items > 0 ? 2 : 256; }

/// Neighbours first, then pairs of them, ..: in order, and no long chain.
Values combine_all(const SubgroupCombiner& c, std::vector<Values> x) {
  while (x.size() > 1) {
    for (size_t n = 0; n < x.size(); n += 2) {
      x[n / 2] = n + 1 < x.size() ? c.combine(x[n], x[n + 1]) : x[n];
    }
    x.resize((x.size() + 1) / 2);
  }
  return x[0];
}

/// Of the boxes from `from` to before `to`, by this thread.
Values fold_boxes(Team& t, Mailboxes& boxes, const Value& from, const Value& to) {
  Builder& k = t.k;
  const kir::Vars acc = k.declare(t.problem.op.neutral);
  k.for_(from, to, kir::i64(1), [&](const Value& n) {
    k.assign(acc, t.problem.op.combine(k, k.read(acc), boxes.load(n)));
  });
  return k.read(acc);
}

/// The boxes of this thread become what stands before each, since the first thread's; gives what
/// stands behind.
Values scan_boxes_of(Team& t, Mailboxes& boxes, const Value& from, const Value& to) {
  Builder& k = t.k;
  SubgroupCombiner c(t, t.problem.op);
  const Values own = c.subgroup_inclusive(fold_boxes(t, boxes, from, to));
  const kir::Vars acc = k.declare(c.subgroup_before(own));
  k.for_(from, to, kir::i64(1), [&](const Value& n) {
    const Values x = boxes.load(n), before = k.read(acc);
    boxes.store(n, before);
    k.assign(acc, c.combine(before, x));
  });
  return own;
}

}  // namespace

AheadTile ahead_tile(const Facts& f, const Target& target, AheadTile::Order order,
                     const std::vector<PrimType>& stored) {
  AheadTile tile;
  tile.order = order;
  tile.lanes = target.subgroup_size;
  if (!target.reads_ahead || !plan::has_subgroups(target) || !f.ahead || !f.segments.is(1) ||
      !f.carried.empty() || f.fails || f.slow) {
    return tile;
  }
  std::vector<PrimType> types = f.ahead->arrays;
  types.insert(types.end(), stored.begin(), stored.end());
  tile.fit(types, f.ahead->statements);
  if (f.items > 0) tile.units = std::min(tile.units, std::max(1, f.items / tile.each));
  return tile;
}

HostExpr ahead_when(const Facts& f, const Target& target, const AheadTile& tile) {
  // Fewer elements are not worth further launches.
  constexpr int64_t kLeastTiles = 8;
  const int64_t turns = std::min(plan::turn_budget(target) / 2, int64_t{1} << 20);
  const int64_t most = tile.size() * share_of_chunk(f) * tile.lanes * tile.lanes * turns;
  return and_(le(tile.size() * kLeastTiles, f.length), le(f.length, most));
}

AheadElements::AheadElements(Team& t, const AheadTile& tile, const std::function<void()>& besides)
    : t_(t) {
  Builder& k = t.k;
  const Value length = t.host(t.facts.length), number = k.group();
  from = k.mul(number, tile.size());
  to = k.min(k.add(from, tile.size()), length);
  whole = k.le(k.add(from, tile.size()), length);
  // The last workgroup, which has less than a tile, and those behind it load the first tile.
  const Value loaded = k.select(whole, number, kir::i64(0));
  const plan::Elements::Ahead& ahead = t.problem.elements.ahead;
  const Values bases = ahead.bases();
  std::vector<Values> read(static_cast<size_t>(tile.per_thread()));
  for (size_t a = 0; a < bases.size(); a++) {
    const Values of_array = tile.load(k, t.facts.ahead->arrays[a], bases[a], loaded);
    for (size_t n = 0; n < read.size(); n++) read[n].push_back(of_array[n]);
  }
  if (besides) besides();
  for (size_t n = 0; n < read.size(); n++) {
    elements.push_back(ahead.element(k, tile.place(k, loaded, static_cast<int>(n)), read[n]));
  }
  const int64_t share = tile.per_thread();
  first = k.min(k.add(from, k.mul(k.to_i64(k.lane()), share)), to);
  last = k.min(k.add(first, share), to);
}

Values AheadElements::total() {
  Builder& k = t_.k;
  const SubgroupCombiner c(t_, t_.problem.op);
  const kir::Vars acc = k.declare(combine_all(c, elements));
  k.if_(k.not_(whole), [&] {
    k.assign(acc, c.op().neutral);
    k.for_(first, last, kir::i64(1), [&](const Value& i) {
      const Values x = t_.problem.elements.at(k, {kir::i64(0), i});
      k.assign(acc, c.combine(k.read(acc), x));
    });
  });
  return k.read(acc);
}

AheadSteps::AheadSteps(const Facts& f, const Target& target, const plan::Bind& bind,
                       const AheadTile& tile)
    : facts_(f),
      tile_(tile),
      maker_(f, target, bind, tile.lanes),
      share_(share_of_chunk(f)),
      n_tiles_(div_up(f.length, tile.size())),
      n_chunks_(div_up(n_tiles_, share_ * tile.lanes)),
      boxes_(maker_.scratch(Mailboxes::bytes(f.op.types, n_tiles_))),
      chunks_(maker_.scratch(Mailboxes::bytes(f.op.types, n_chunks_))) {}

Mailboxes AheadSteps::boxes(Team& t) {
  return {t, t.block(boxes_), facts_.op.types, t.host(n_tiles_), kir::Order::kPlain};
}
Mailboxes AheadSteps::chunks(Team& t) {
  return {t, t.block(chunks_), facts_.op.types, t.host(n_chunks_), kir::Order::kPlain};
}

void AheadSteps::step(const std::string& name, const HostExpr& groups,
                      const std::function<void(Team&)>& build) {
  maker_.step(name, groups, [&](Team& t) {
    t.k.kernel().group_size = {tile_.lanes};  // whatever the specialisation constant says
    build(t);
  });
}

void AheadSteps::for_tiles(const std::string& name, const std::function<void(Team&)>& build) {
  step(name, n_tiles_, [&](Team& t) {
    t.k.kernel().reads_ahead = true;
    build(t);
  });
}

void AheadSteps::totals() {
  for_tiles("_tiles", [&](Team& t) {
    Builder& k = t.k;
    AheadElements tile(t, tile_);
    SubgroupCombiner c(t, t.problem.op);
    const Values total = c.subgroup_reduce(tile.total());
    k.if_(k.eq(k.lane(), 0), [&] { boxes(t).store(k.group(), total); });
  });
}

void AheadSteps::reduce_boxes(const std::function<void(Team&, const Values&)>& put) {
  // One chunk is left to the last kernel.
  step("_chunks", n_chunks_ * min(n_chunks_ - 1, 1), [&](Team& t) {
    Builder& k = t.k;
    SubgroupCombiner c(t, t.problem.op);
    Mailboxes in = boxes(t), out = chunks(t);
    const Value count = t.host(n_tiles_), thread = k.global();
    const Value from = k.min(k.mul(thread, share_), count), to = k.min(k.add(from, share_), count);
    const Values total = c.subgroup_reduce(fold_boxes(t, in, from, to));
    k.if_(k.eq(k.lane(), 0), [&] { out.store(k.group(), total); });
  });
  step("_total", 1, [&](Team& t) {
    Builder& k = t.k;
    SubgroupCombiner c(t, t.problem.op);
    const Value one = k.eq(t.host(n_chunks_), 1);
    const Value count = k.select(one, t.host(n_tiles_), t.host(n_chunks_));
    Mailboxes in(t, k.select(one, t.block(boxes_), t.block(chunks_)), facts_.op.types, count,
                 kir::Order::kPlain);
    const Value share = k.div_up(count, kir::i64(tile_.lanes));
    const Value from = k.min(k.mul(k.to_i64(k.lane()), share), count);
    const Values total =
        c.subgroup_reduce(fold_boxes(t, in, from, k.min(k.add(from, share), count)));
    k.if_(k.eq(k.lane(), 0), [&] { put(t, total); });
  });
}

void AheadSteps::scan_boxes() {
  step("_chunks", n_chunks_, [&](Team& t) {
    Builder& k = t.k;
    Mailboxes in = boxes(t), out = chunks(t);
    const Value count = t.host(n_tiles_), thread = k.global();
    const Value from = k.min(k.mul(thread, share_), count), to = k.min(k.add(from, share_), count);
    const Values behind = scan_boxes_of(t, in, from, to);
    k.if_(k.eq(k.lane(), tile_.lanes - 1), [&] { out.store(k.group(), behind); });
  });
  step("_starts", 1, [&](Team& t) {
    Builder& k = t.k;
    Mailboxes all = chunks(t);
    const Value count = t.host(n_chunks_);
    const Value share = k.div_up(count, kir::i64(tile_.lanes));
    const Value from = k.min(k.mul(k.to_i64(k.lane()), share), count);
    scan_boxes_of(t, all, from, k.min(k.add(from, share), count));
  });
}

Values AheadSteps::before(Team& t) {
  Builder& k = t.k;
  const Value number = k.min(k.group(), k.sub(t.host(n_tiles_), 1));
  const int log_of_chunk = __builtin_ctzll(static_cast<uint64_t>(share_ * tile_.lanes));
  const Values chunk = chunks(t).load(k.lshr(number, kir::i64(log_of_chunk)));
  return t.problem.op.combine(k, chunk, boxes(t).load(number));
}

}  // namespace kenaz::primitives::blocks

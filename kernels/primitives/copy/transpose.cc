#include <fmt/format.h>

#include "kernels/primitives/copy/plan_functions.h"

namespace kenaz::primitives::copy::transpose {

namespace {

using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

// Rows and columns of a tile: enough neighbours for whole lines of the cache.
int side(const Facts& f) { return plan::bytes_of(f.carried) <= 2 ? 64 : 32; }

// A tile of one matrix. All i64: the first of its segments and positions, and how many there are.
struct Tile {
  Value segment, position, segments, positions;
};

Tile tile_of(Team& t, const HostExpr& matrix, const HostExpr& down, const HostExpr& along) {
  kir::Builder& k = t.k;
  const int n = side(t.facts);
  const Value strip = k.quot(k.group(), t.host(along));
  const Value column = k.sub(k.group(), k.mul(strip, t.host(along)));
  const Value number = k.quot(strip, t.host(down));
  const Value row = k.sub(strip, k.mul(number, t.host(down)));
  const Value first = k.mul(row, n);
  Tile tile;
  tile.segment = k.add(k.mul(number, t.host(matrix)), first);
  tile.position = k.mul(column, n);
  tile.segments = k.min(k.sub(t.host(matrix), first), kir::i64(n));
  tile.positions = k.min(k.sub(t.host(t.facts.length), tile.position), kir::i64(n));
  return tile;
}

// Calls body(slow, fast) for all pairs of numbers below the tile's side; i32. Neighbouring threads
// have neighbouring `fast`.
void for_pairs(Team& t, const std::function<void(const Value& slow, const Value& fast)>& body) {
  kir::Builder& k = t.k;
  const int n = side(t.facts);
  const int shift = n == 64 ? 6 : 5;
  k.for_(k.local(), kir::i32(n * n), t.group_size(),
         [&](const Value& e) { body(k.lshr(e, kir::i32(shift)), k.and_(e, kir::i32(n - 1))); });
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  const int n = side(f);
  return f.across && n * (n + 1) * plan::bytes_of(f.carried) <= target.shared_bytes;
}

HostExpr when(const Facts& f, const Target&) {
  const HostExpr matrix = f.matrix.is(0) ? f.segments : f.matrix;
  return and_(le(8, matrix), le(8, f.length));  // else most of a tile is empty
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr matrix = f.matrix.is(0) ? f.segments : f.matrix;
  const HostExpr matrices =
      f.matrix.is(0) ? HostExpr(1) : HostExpr::op(ScalarOp::kQuot, {f.segments, max(matrix, 1)});
  const int n = side(f);
  const HostExpr down = div_up(matrix, n), along = div_up(f.length, n);
  m.step("_transpose", matrices * down * along, [&](Team& t) {
    kir::Builder& k = t.k;
    std::vector<kir::SharedId> held;
    for (const PrimType type : f.carried) {
      // One more column: neither way of access then meets one bank of shared memory only.
      held.push_back(k.shared(fmt::format("tile{}", held.size()), type, {n * (n + 1), -1}));
    }
    const Tile tile = tile_of(t, matrix, down, along);
    const auto if_inside = [&](const Value& segment, const Value& position, const auto& body) {
      const Value s = k.to_i64(segment), p = k.to_i64(position);
      k.if_(k.and_(k.lt(s, tile.segments), k.lt(p, tile.positions)), [&] {
        body(plan::Place{k.add(tile.segment, s), k.add(tile.position, p)},
             k.add(k.mul(segment, n + 1), position));
      });
    };
    for_pairs(t, [&](const Value& position, const Value& segment) {
      if_inside(segment, position, [&](const plan::Place& at, const Value& slot) {
        const Values x = t.problem.elements.at(k, at);
        for (size_t j = 0; j < held.size(); j++) k.store(held[j], slot, x[j]);
      });
    });
    k.barrier();
    for_pairs(t, [&](const Value& segment, const Value& position) {
      if_inside(segment, position, [&](const plan::Place& at, const Value& slot) {
        Values x;
        for (const kir::SharedId h : held) x.push_back(k.load(h, slot));
        t.problem.sink.put(k, at, x);
      });
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::copy::transpose

// Products of matrices where what is read ahead costs next to nothing: a workgroup of one subgroup
// makes a strip of as many columns as it has threads and of some rows, from some positions. Its
// code has no loop, so that all of its factors are read ahead: a row's by all threads, and each
// thread keeps its own column's. What the positions' chunks come to is combined by a second kernel.
#include "kernels/primitives/blocks/ahead_tile.h"
#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/reduce/plan_functions.h"

namespace kenaz::primitives::reduce::ahead_tiles {

namespace {

using blocks::AheadTile;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

constexpr int kRows = 8, kPositions = 32;
// Chunks that the second kernel reads ahead.
constexpr int kChunksAhead = 8;

// Workgroups, which are numbered by fewer bits than that, are divided by counts of such by a
// multiplication: no condition may stand before what is read ahead.
constexpr int kBits = 20;

HostExpr divisor(const HostExpr& d) {
  const HostExpr factor = HostExpr::op(ScalarOp::kQuot, {int64_t{1} << (2 * kBits), d}) + 1;
  return factor * (int64_t{1} << kBits) + d;
}

/// a / b and the rest.
std::pair<Value, Value> divide(Builder& k, const Value& a, const Value& divisor) {
  const Value d = k.and_(divisor, kir::i64((int64_t{1} << kBits) - 1));
  const Value factor = k.lshr(divisor, kir::i64(kBits));
  const Value q = k.lshr(k.mul(a, factor), kir::i64(2 * kBits));
  return {q, k.sub(a, k.mul(q, d))};
}

AheadTile sums_tile(const Facts& f, const Target& target) {
  AheadTile tile;
  tile.lanes = target.subgroup_size;
  tile.each = 8 / prim_size(f.op.types[0]);
  tile.units = 2;
  return tile;
}

/// How far a chunk's sums stand behind those of the one before: so many that tiles are whole.
Value stride_of(Builder& k, const Value& segments, const AheadTile& tile) {
  const int64_t size = tile.size();  // a power of two
  return k.and_(k.add(segments, size - 1), kir::i64(-size));
}

/// The sums of a strip. It has no more arguments than leave room for digits (glsl/print_kernel.cc).
void strip(Team& t, const AheadTile& tile, const HostExpr& strips, const HostExpr& blocks,
           const plan::ScratchId& sums) {
  Builder& k = t.k;
  k.kernel().reads_ahead = true;
  const int lanes = t.target.subgroup_size;
  k.kernel().group_size = {lanes};
  const auto [above, column_block] = divide(k, k.group(), t.host(divisor(max(strips, 1))));
  const auto chunk_and_rest = divide(k, above, t.host(divisor(max(blocks, 1))));
  const Value chunk = chunk_and_rest.first, row_block = chunk_and_rest.second;
  const Value rows = t.host(t.facts.factors->rows), columns = t.host(t.facts.factors->columns);
  const Value length = t.host(t.facts.length);
  // Where the last block would reach beyond the end, it begins earlier: without conditions, and
  // its loads are of neighbours. It leaves out what the one before it has.
  const auto begin = [&](const Value& own, int size, const Value& count) {
    return k.min(own, k.sub(count, size));
  };
  const Value own_row = k.mul(row_block, kRows), own_column = k.mul(column_block, lanes);
  const Value own_position = k.mul(chunk, kPositions);
  const Value first_row = begin(own_row, kRows, rows);
  const Value first_column = begin(own_column, lanes, columns);
  const Value first = begin(own_position, kPositions, length);
  const plan::Elements::Factors& f = t.problem.elements.factors;
  const Values of = f.enter(k, kir::i64(0));
  const plan::Operator& op = t.problem.op;
  const Value had = k.to_i32(k.sub(own_position, first));
  // Position by position: few values stay in registers, and rows don't wait for each other.
  std::vector<Values> accs(kRows, op.neutral);
  for (int p = 0; p < kPositions; p++) {
    const Value at = k.add(first, p), inside = k.le(had, kir::i32(p));
    Values right;
    for (int lane = 0; lane < lanes; lane++) {
      const Values x = f.right(k, of, k.add(first_column, lane), at);
      right = lane == 0 ? x : blocks::select(k, k.eq(k.lane(), lane), x, right);
    }
    for (size_t r = 0; r < kRows; r++) {
      const Values left = f.left(k, of, k.add(first_row, static_cast<int64_t>(r)), at);
      const Values x = op.combine(k, accs[r], f.join(k, left, right));
      accs[r] = blocks::select(k, inside, x, accs[r]);
    }
  }
  const Value stride = stride_of(k, k.mul(rows, columns), tile);
  const Value column = k.add(first_column, k.to_i64(k.lane()));
  for (size_t r = 0; r < kRows; r++) {
    const Value row = k.add(first_row, static_cast<int64_t>(r));
    k.if_(k.and_(k.le(own_row, row), k.le(own_column, column)), [&] {
      const Value segment = k.add(k.mul(row, columns), column);
      k.store(t.block(sums), k.add(k.mul(chunk, stride), segment), accs[r][0]);
    });
  }
}

/// The sums of all chunks.
void sum(Team& t, const AheadTile& tile, const HostExpr& n_chunks, const plan::ScratchId& sums) {
  Builder& k = t.k;
  k.kernel().reads_ahead = true;
  k.kernel().group_size = {tile.lanes};
  const PrimType type = t.facts.op.types[0];
  const plan::Operator& op = t.problem.op;
  const Value chunks = t.host(n_chunks), base = t.block(sums);
  const Value step = stride_of(k, t.host(t.facts.segments), tile);
  // The last workgroup, too, has a whole tile in memory; those behind it take the first.
  const Value inside = k.lt(k.group(), k.groups());
  const Value number = k.select(inside, k.group(), kir::i64(0));
  std::vector<Values> accs(static_cast<size_t>(tile.per_thread()), op.neutral);
  for (int c = 0; c < kChunksAhead; c++) {
    const Value chunk = k.max(k.min(kir::i64(c), k.sub(chunks, 1)), kir::i64(0));
    const Value bytes = k.mul(k.mul(chunk, step), prim_size(type));
    const Values x = tile.load(k, type, k.add(base, k.bitcast(bytes, PrimType::kU64)), number);
    for (size_t n = 0; n < x.size(); n++) {
      accs[n] =
          blocks::select(k, k.lt(kir::i64(c), chunks), op.combine(k, accs[n], {x[n]}), accs[n]);
    }
  }
  for (size_t n = 0; n < accs.size(); n++) {
    const Value segment = tile.place(k, k.group(), static_cast<int>(n));
    const kir::Vars acc = k.declare(accs[n]);
    k.if_(k.lt(segment, t.host(t.facts.segments)), [&] {
      k.for_(kir::i64(kChunksAhead), chunks, kir::i64(1), [&](const Value& c) {
        const Value x = k.load(type, base, k.add(k.mul(c, step), segment));
        k.assign(acc, op.combine(k, k.read(acc), {x}));
      });
      t.problem.sink.put(k, {segment, kir::i64(0)}, k.read(acc));
    });
  }
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  const auto is_one = [](const std::vector<PrimType>& types) {
    return types.size() == 1 && types[0] != PrimType::kBool && prim_size(types[0]) >= 4;
  };
  return target.reads_ahead && plan::has_subgroups(target) && f.factors && f.factors->plain &&
         !f.fails && !f.slow && is_one(f.op.types) && is_one(f.factors->left) &&
         is_one(f.factors->right) && f.op.known[0] != nullptr;
}

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr one =
      and_(le(f.segments, f.factors->rows * f.factors->columns), le(1, f.segments));
  const HostExpr wide =
      and_(le(kRows, f.factors->rows), le(target.subgroup_size, f.factors->columns));
  const HostExpr groups = div_up(f.factors->rows, kRows) *
                          div_up(f.factors->columns, target.subgroup_size) *
                          div_up(f.length, kPositions);
  return and_(and_(one, wide), and_(le(kPositions, f.length), lt(groups, 1 << kBits)));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind, target.subgroup_size);
  const AheadTile tile = sums_tile(f, target);
  const HostExpr strips = div_up(f.factors->columns, target.subgroup_size);
  const HostExpr blocks = div_up(f.factors->rows, kRows), chunks = div_up(f.length, kPositions);
  const HostExpr tiles = div_up(f.segments, tile.size());
  // With one chunk at least, the second kernel may load where there are no elements.
  const plan::ScratchId sums =
      m.scratch(max(chunks, 1) * tiles * HostExpr(tile.size() * prim_size(f.op.types[0])));
  m.asks(plan::Asks::kForFactors);
  m.step("_strips", chunks * blocks * strips,
         [&](Team& t) { strip(t, tile, strips, blocks, sums); });
  m.step("_sums", tiles, [&](Team& t) { sum(t, tile, chunks, sums); });
  return m.take();
}

}  // namespace kenaz::primitives::reduce::ahead_tiles

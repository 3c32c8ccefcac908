#include "kernels/primitives/blocks/all_or_none.h"
#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/pack/plan_functions.h"
#include "kernels/primitives/pack/strips.h"

namespace kenaz::primitives::pack::one_pass {

namespace {

using kir::AtomicOp;

/// What workgroups tell each other: how many elements each tile keeps, and how many the tiles of
/// each row do, which are as many as a workgroup has threads. So its threads come to what stands
/// before a tile in one look: at the tiles of the row before it, and at all rows before that.
class Counts {
 public:
  struct Memory {
    plan::ScratchId tiles, rows;
    HostExpr n_tiles, n_rows;
  };
  static Memory memory(plan::Maker& m, const HostExpr& n_tiles) {
    const HostExpr n_rows = div_up(n_tiles, plan::Maker::group_size());
    return {m.scratch(n_tiles * 4, true), m.scratch(n_rows * 8, true), n_tiles, n_rows};
  }
  static void clear(Team& t, const Memory& memory) {
    Builder& k = t.k;
    const Value n = k.global();
    k.if_(k.lt(n, t.host(memory.n_tiles)), [&] { k.store(t.block(memory.tiles), n, u32(0)); });
    k.if_(k.lt(n, t.host(memory.n_rows)), [&] { k.store(t.block(memory.rows), n, u64(0)); });
  }

  /// At the start of the kernel, before a barrier.
  Counts(Team& t, Combiner& c, const Memory& memory)
      : t_(t),
        c_(c),
        tiles_(t.block(memory.tiles)),
        rows_(t.block(memory.rows)),
        expected_(t.k.declare(u32(0))),
        threads_(t) {}

  /// By one thread; `count`: i32.
  void publish(const Value& tile, const Value& count) {
    Builder& k = t_.k;
    const Value n = k.convert(count, PrimType::kU32);
    k.atomic(AtomicOp::kStore, PrimType::kU32, {tiles_, tile}, k.add(n, 1));
    const Value arrival = u64(uint64_t{1} << kCountBits);
    k.atomic(AtomicOp::kAdd, PrimType::kU64, {rows_, k.quot(tile, t_.group_size_i64())},
             k.add(arrival, k.convert(count, PrimType::kU64)));
  }

  /// What all tiles before this one keep (i32); contains barriers. Where a thread stops, because it
  /// would wait for ever, all of its workgroup do: what it has to say of the next tile would be
  /// missing.
  Value before(const Value& tile) {
    Builder& k = t_.k;
    const Value width = t_.group_size_i64(), row = k.quot(tile, width);
    const Value me = k.to_i64(k.local()), own = k.add(k.mul(row, width), me);
    const Value has_tile = k.lt(own, tile), has_row = k.lt(me, row);
    // One word of a tile and one of a row are on their way together.
    const kir::Var sum = k.declare(kir::i32(0)), there = k.declare(kir::boolean(false));
    const auto look = [&] {
      const Value of_tile = k.atomic(AtomicOp::kLoad, PrimType::kU32, {tiles_, k.min(own, tile)});
      const Value of_row = k.atomic(AtomicOp::kLoad, PrimType::kU64, {rows_, k.min(me, row)});
      const Value some = k.select(has_tile, k.to_i32(k.sub(of_tile, 1)), kir::i32(0));
      const Value more = k.select(has_row, kept_in(of_row), kir::i32(0));
      k.assign(sum, k.add(some, more));
      k.assign(there, k.and_(k.or_(k.not_(has_tile), k.ne(of_tile, u32(0))),
                             k.or_(k.not_(has_row), is_full(of_row))));
    };
    k.while_([&] { return k.not_(k.read(there)); }, look);
    k.for_(k.add(me, width), row, width,
           [&](const Value& n) { k.assign(sum, k.add(k.read(sum), kept_in(wait_for_row(n)))); });
    threads_.go_on();
    const Value before = c_.reduce({k.read(sum)})[0];
    k.assign(expected_, k.add(k.read(expected_), k.convert(t_.group_size(), PrimType::kU32)));
    threads_.stop_unless(k.read(expected_));
    return before;
  }

 private:
  // A row's word: how many of its tiles have arrived, above how many elements they keep.
  static constexpr int kCountBits = 48;
  static Value u32(uint32_t n) { return PrimValue{PrimType::kU32, n}; }
  static Value u64(uint64_t n) { return PrimValue{PrimType::kU64, n}; }

  Value kept_in(const Value& row) {
    return t_.k.to_i32(t_.k.and_(row, u64((uint64_t{1} << kCountBits) - 1)));
  }
  Value is_full(const Value& row) {
    const Value width = t_.k.convert(t_.group_size_i64(), PrimType::kU64);
    return t_.k.eq(t_.k.lshr(row, u64(kCountBits)), width);
  }
  Value wait_for_row(const Value& n) {
    Builder& k = t_.k;
    const kir::Var word = k.declare(u64(0)), there = k.declare(kir::boolean(false));
    k.while_([&] { return k.not_(k.read(there)); },
             [&] {
               const Value found = k.atomic(AtomicOp::kLoad, PrimType::kU64, {rows_, n});
               k.assign(word, found);
               k.assign(there, is_full(found));
             });
    return k.read(word);
  }

  Team& t_;
  Combiner& c_;
  Value tiles_, rows_;
  kir::Var expected_;  // u32: how many times threads have gone on, if all have
  blocks::AllOrNone threads_;
};

}  // namespace

// Where there is one class, and no element of another, a tile's place hangs on those before it
// alone. Its elements are made twice within a moment, which pays where that is to load vectors: on
// an H100 a filter of 2^28 i32 took 0.83 of the time of two passes, one of bytes 1.2 of it.
bool applies(const Facts& f, const Target& target) {
  constexpr int kBytes = 4;
  return target.forward_progress && target.max_turns == 0 && target.i64_atomics &&
         Strips::fit(f, target) && f.widest > 1 && f.read_bytes >= kBytes && !f.gathers;
}

// Each tile looks at all rows before its own: of more elements they are as much as it reads itself.
HostExpr when(const Facts& f, const Target&) { return le(f.length, int64_t{1} << 30); }

// A workgroup counts a tile, then places the one that it has counted before: what others have
// counted meanwhile is there, and its elements are still in caches. Tiles go to whoever asks: with
// as many for each workgroup, those that start late kept a filter of 2^28 i32 waiting, 950 us
// instead of 844.
plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  // There is one even without elements, for somebody must say that there are none.
  const HostExpr tile = Strips::tile_size(f, target), n_tiles = max(div_up(f.length, tile), 1);
  const HostExpr groups = min(n_tiles, plan::groups_to_fill(target));
  const plan::ScratchId ticket = m.scratch(16, true);
  const Counts::Memory memory = Counts::memory(m, n_tiles);
  const auto tiles_of_group = [&](Team& t) {
    Builder& k = t.k;
    Combiner c(t, counting(f, PrimType::kI32));
    Strips strips(t);
    Counts counts(t, c, memory);
    const Value length = t.host(f.length), size = t.host(tile), end = t.host(n_tiles);
    const Value first = k.eq(k.local(), 0);
    const auto place = [&](const Value& number) {
      strips.pack(c, k.mul(number, size), length, [&](const Value& count) {
        const Value before = counts.before(number);
        k.if_(k.and_(first, k.eq(number, k.sub(end, 1))),
              [&] { t.problem.counts(k, {k.to_i64(k.add(before, count))}); });
        return before;
      });
    };
    const kir::Var counted = k.declare(kir::i64(-1)), more = k.declare(kir::boolean(true));
    const auto turn = [&] {
      const Value number = blocks::start_number_or_none(t, {t.block(ticket), kir::i32(0)});
      const Value from = k.mul(number, size);
      // Behind the last tile there is nothing to count.
      const Value mine = c.reduce({strips.count(from, k.min(k.add(from, size), length))})[0];
      const Value is_one = k.and_(k.le(kir::i64(0), number), k.lt(number, end));
      k.if_(k.and_(first, is_one), [&] { counts.publish(number, mine); });
      const Value earlier = k.read(counted);
      k.if_(k.le(kir::i64(0), earlier), [&] { place(earlier); });
      k.assign(counted, number);
      k.assign(more, is_one);
    };
    k.while_([&] { return k.read(more); }, turn, true);
  };
  m.step("_one_pass", groups, tiles_of_group, true);
  m.step("_clear", div_up(n_tiles, plan::Maker::group_size()), [&](Team& t) {
    Counts::clear(t, memory);
    t.k.if_(t.k.eq(t.k.global(), 0), [&] {
      blocks::reset_ticket(t, {t.block(ticket), kir::i32(0)});
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::pack::one_pass

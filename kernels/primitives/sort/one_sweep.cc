#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/primitives/blocks/all_or_none.h"
#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/sort/passes.h"
#include "kernels/primitives/sort/plan_functions.h"

namespace kenaz::primitives::sort::one_sweep {

namespace {

using blocks::Combiner;
using kir::AtomicOp;

constexpr PrimType kWord = PrimType::kU32;

Value word(uint32_t n) { return PrimValue{kWord, n}; }

plan::Operator sum() { return plan::known_operator(*op::known(ScalarOp::kAdd, kWord), kWord); }

/// The plan's kernels: one counts the values of all digits of all keys. Then for each digit, from
/// the lowest on, one puts tiles of elements where they belong; tiles tell each other how many of
/// each value they have, and so each knows what stands before it.
class Sweep {
 public:
  // Of a word: whether it is what a tile has of a value, or what all tiles up to it have and where
  // the value begins; and how many that is. 0: not known yet.
  static constexpr int kCountBits = 30;
  static constexpr uint32_t kTotal = 1U << kCountBits, kPrefix = 2U << kCountBits;
  static constexpr uint32_t kCount = kTotal - 1;

  Sweep(const Facts& f, const Target& target, const plan::Bind& bind)
      : f_(f), s_(shape_of(f, target)), m_(f, target, bind, s_.threads), passes_(f, s_, m_) {
    tile_ = tile_size(s_);
    n_tiles_ = max(div_up(f.length, tile_), 1);
    tiles_each_ = div_up(n_tiles_, min(n_tiles_, plan::groups_to_fill(target) * 2));
    groups_ = div_up(n_tiles_, tiles_each_);
    const HostExpr counts(4 * int64_t{s_.digits} * s_.passes);
    tickets_ = m_.scratch(16, true);
    sum_in_ = m_.scratch(counts, true);
    totals_ = m_.scratch(counts);
    const HostExpr words = n_tiles_ * HostExpr(4 * int64_t{s_.digits});
    for (int side = 0; side < std::min(s_.passes, 2); side++) words_[side] = m_.scratch(words);
  }

  plan::Work make() {
    m_.step("_count", groups_, [&](Team& t) { count(t); });
    for (int pass = 0; pass < s_.passes; pass++) {
      m_.step(
          fmt::format("_place{}", pass), n_tiles_, [&](Team& t) { place(t, pass); }, true);
    }
    return m_.take();
  }

 private:
  void count(Team& t) {
    Builder& k = t.k;
    blocks::LastArrival arrival(t);
    const int n_counts = s_.digits * s_.passes;
    const kir::SharedId bins = k.shared("bins", kWord, {n_counts, -1});
    for_all(t, n_counts, [&](const Value& n) { k.store(bins, n, word(0)); });
    k.barrier();
    const Value first = k.mul(k.group(), t.host(tiles_each_));
    const Value last = k.min(k.add(first, t.host(tiles_each_)), t.host(n_tiles_));
    k.for_(
        first, last, kir::i64(1), [&](const Value& tile) { forget(t, 0, tile); }, true);
    const Value from = k.mul(first, t.host(tile_));
    const Value to = k.min(k.mul(last, t.host(tile_)), t.host(f_.length));
    passes_.for_keys(t, 0, from, to, [&](const Value& key) {
      for (int pass = 0; pass < s_.passes; pass++) {
        const Value n = k.add(digit_of(k, s_, key, pass * s_.bits), pass * s_.digits);
        k.atomic(AtomicOp::kAdd, kWord, {bins, n}, word(1));
      }
    });
    k.barrier();
    const Value all = t.block(sum_in_);
    for_all(t, n_counts, [&](const Value& n) {
      const Value some = k.load(bins, n);
      k.if_(k.ne(some, word(0)), [&] {
        k.atomic(AtomicOp::kAdd, kWord, {all, k.to_i64(n)}, some);
      });
    });
    // What is counted in must be 0 behind each kernel.
    k.if_(arrival.arrives({t.block(tickets_), kir::i32(1)}, t.host(groups_)), [&] {
      for_all(t, n_counts, [&](const Value& n) {
        const kir::Address at{all, k.to_i64(n)};
        k.store(t.block(totals_), k.to_i64(n), k.atomic(AtomicOp::kLoad, kWord, at));
        k.atomic(AtomicOp::kStore, kWord, at, word(0));
      });
    });
  }

  Value index_of(Builder& k, const Value& tile, const Value& digit) {
    return k.add(k.mul(tile, s_.digits), k.to_i64(digit));
  }
  kir::Address word_of(Team& t, int pass, const Value& tile, const Value& digit) {
    return {t.block(words_[pass % 2]), index_of(t.k, tile, digit)};
  }
  /// The words of a tile, for a pass behind this kernel.
  void forget(Team& t, int pass, const Value& tile) {
    const Value words = t.block(words_[pass % 2]);
    for_all(t, s_.digits,
            [&](const Value& d) { t.k.store(words, index_of(t.k, tile, d), word(0)); });
  }

  /// What stands before the elements of a value in a tile, which is not the first; or anything, if
  /// the thread is stopped.
  Value before(Team& t, int pass, const Value& tile, const Value& digit) {
    Builder& k = t.k;
    const kir::Var sum = k.declare(word(0)), at = k.declare(k.sub(tile, 1));
    const kir::Var more = k.declare(kir::boolean(true));
    // Each word takes long to come, so some are asked for at once. Of 2^27 u32 on an H200: 4,100 us
    // one by one, 3,974 us in twos, 3,939 us in fours.
    constexpr int kTogether = 4;
    const auto turn = [&] {
      Values found;
      for (int n = 0; n < kTogether; n++) {
        const Value there = k.max(k.sub(k.read(at), n), kir::i64(0));
        found.push_back(k.atomic(AtomicOp::kLoad, kWord, word_of(t, pass, there, digit)));
      }
      // The first that is not known ends the turn, the first that knows all before it the search.
      Value counts = kir::boolean(true), add = word(0), known = kir::i64(0);
      Value goes_on = kir::boolean(true);
      for (const Value& f : found) {
        add = k.add(add, k.select(counts, k.and_(f, word(kCount)), word(0)));
        goes_on = k.and_(goes_on, k.or_(k.not_(counts), k.lt(f, word(kPrefix))));
        counts = k.and_(counts, k.and_(k.ne(f, word(0)), k.lt(f, word(kPrefix))));
        known = k.add(known, k.select(counts, kir::i64(1), kir::i64(0)));
      }
      k.assign(sum, k.add(k.read(sum), add));
      k.assign(more, goes_on);
      k.assign(at, k.sub(k.read(at), known));
    };
    k.while_([&] { return k.read(more); }, turn);
    return k.read(sum);
  }

  /// Where the elements of each value begin.
  void find_bases(Team& t, int pass, Ranks& ranks, Combiner& c, const kir::SharedId& bases) {
    Builder& k = t.k;
    const kir::Var at = k.declare(word(0));
    const auto add = [&](const Value& d) {
      const Value n = k.add(k.to_i64(d), pass * s_.digits);
      k.assign(at, k.add(k.read(at), k.load({kWord}, {t.block(totals_), n})));
    };
    ranks.for_own_digits(add);
    k.assign(at, c.scan({k.read(at)}).before[0]);
    ranks.for_own_digits([&](const Value& d) {
      k.store(bases, d, k.read(at));
      add(d);
    });
  }

  void place(Team& t, int pass) {
    Builder& k = t.k;
    Placer placer(t, s_, passes_, pass, PrimType::kI32);
    Combiner c(t, sum());
    const kir::SharedId own = k.shared("own", kWord, {s_.digits, -1});
    const kir::SharedId bases = k.shared("bases", kWord, {s_.digits, -1});
    blocks::AllOrNone threads(t);
    const Value first = k.eq(k.local(), 0);
    const kir::Address ticket{t.block(tickets_), kir::i32(0)};
    const Value tile = blocks::start_number(t, ticket);
    k.if_(k.and_(first, k.eq(tile, k.sub(t.host(n_tiles_), 1))),
          [&] { blocks::reset_ticket(t, ticket); });
    if (pass + 1 < s_.passes) forget(t, pass + 1, tile);
    // Only the first tile needs them: what others see before them has it in.
    const Value is_first = k.eq(tile, 0);
    k.if_(is_first, [&] { find_bases(t, pass, placer.ranks(), c, bases); });
    const auto publish = [&](const Value& d, uint32_t flag, const Value& n) {
      k.atomic(AtomicOp::kStore, kWord, word_of(t, pass, tile, d), k.or_(n, word(flag)));
    };
    const auto begin = [&](const Value& d, const Value& place, const Value& count) {
      const Value n = k.convert(count, kWord);
      k.if_(
          is_first, [&] { publish(d, kPrefix, k.add(k.load(bases, d), n)); },
          [&] { publish(d, kTotal, n); });
      k.store(own, d, n);
      k.store(placer.ahead(), d, place);
    };
    // Others are waited for when this tile's elements are in shared memory.
    const auto meet = [&] {
      placer.ranks().for_own_digits([&](const Value& d) {
        const Value earlier = k.if_values(
            is_first, [&] { return Values{k.load(bases, d)}; },
            [&] {
              const Value found = before(t, pass, tile, d);
              publish(d, kPrefix, k.add(found, k.load(own, d)));
              return Values{found};
            })[0];
        const Value place = k.load(placer.ahead(), d);
        k.store(placer.ahead(), d, k.sub(k.to_i32(earlier), place));
      });
      threads.go_on();
      k.barrier();
      // Who has been stopped has not said where elements go. (Behind this kernel all threads have
      // stopped then, or keys that nobody has put would be counted wrong.)
      threads.stop_unless(k.convert(t.group_size(), kWord));
    };
    placer.tile(k.mul(tile, t.host(tile_)), t.host(f_.length), begin, meet);
  }

  const Facts& f_;
  Shape s_;
  plan::Maker m_;
  Passes passes_;
  HostExpr tile_, n_tiles_, tiles_each_, groups_;
  plan::ScratchId tickets_{}, sum_in_{}, totals_{};
  std::array<plan::ScratchId, 2> words_;
};

}  // namespace

bool applies(const Facts&, const Target& target) {
  return target.forward_progress && target.max_turns == 0;
}

HostExpr when(const Facts& f, const Target&) { return le(f.length, int64_t{Sweep::kCount}); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return Sweep(f, target, bind).make();
}

}  // namespace kenaz::primitives::sort::one_sweep

#include "kernels/primitives/blocks/look_back.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/bits.h"

namespace kenaz::primitives::blocks {

using kir::AtomicOp;
using kir::AtomicOrder;
using kir::SubgroupOp;

namespace {

Value u32_of(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

/// Threads look at all words of a value at once, so there are not too many.
constexpr int kMostWords = 12;

int packed_words(const plan::OpFacts& op, const program::Target& target) {
  const int n = words_of(op.types);
  return target.i64_atomics && n <= kMostWords ? n : 0;
}

PrimType word_type(bool packed) { return packed ? PrimType::kU64 : PrimType::kU32; }

}  // namespace

LookBack::Memory LookBack::memory(plan::Maker& m, const plan::OpFacts& op,
                                  const program::Target& target, const plan::HostExpr& tiles,
                                  bool cleared_behind) {
  const int packed = packed_words(op, target);
  Memory out{tiles, {}, {}, {}, cleared_behind};
  out.state = m.scratch(16, true);
  out.words = m.scratch(tiles * (packed > 0 ? 8 * packed : 4), true);
  out.boxes = m.scratch(packed > 0 ? plan::HostExpr(0) : Mailboxes::bytes(op.types, tiles * 2));
  return out;
}

LookBack::LookBack(Team& team, Combiner& combiner, const Memory& memory)
    : t_(team),
      c_(combiner),
      packed_(packed_words(combiner.op().facts, team.target)),
      tiles_(team.host(memory.tiles)),
      state_(team.block(memory.state)),
      words_(team.block(memory.words)),
      boxes_(team, packed_ > 0 ? words_ : team.block(memory.boxes), combiner.op().facts.types,
             team.k.mul(tiles_, 2)) {
  if (!memory.cleared_behind) arrival_.emplace(team);
  for (size_t n = 0; n < combiner.op().facts.types.size(); n++) {
    found_.push_back(team.shared_scalar(fmt::format("found{}", n), combiner.op().facts.types[n]));
  }
  Builder& k = team.k;
  k.if_(k.eq(k.local(), 0), [&] {
    for (size_t n = 0; n < found_.size(); n++) {
      k.store(found_[n], kir::i32(0), combiner.op().neutral[n]);
    }
  });
}

Value LookBack::tile() { return start_number(t_, {state_, kir::i32(0)}); }

// The n-th words of all tiles are neighbours: threads look at neighbouring tiles.
kir::Address LookBack::word(const Value& tile, int number) {
  return {words_, t_.k.add(t_.k.mul(tiles_, number), tile)};
}

void LookBack::publish(const Value& tile, Flag flag, const Values& x) {
  Builder& k = t_.k;
  if (packed_ > 0) {
    const Values words = to_words(k, x);
    const Value head = PrimValue{PrimType::kU64, uint64_t{flag} << 32};
    for (int n = 0; n < packed_; n++) {
      const Value value = k.convert(words[static_cast<size_t>(n)], PrimType::kU64);
      k.atomic(AtomicOp::kStore, PrimType::kU64, word(tile, n), k.or_(value, head));
    }
    return;
  }
  boxes_.store(flag == kTotal ? tile : k.add(tiles_, tile), x);
  k.atomic(AtomicOp::kStore, PrimType::kU32, word(tile), u32_of(flag), AtomicOrder::kRelease);
}

LookBack::Published LookBack::wait_for_packed(const Value& tile) {
  Builder& k = t_.k;
  const Value high = PrimValue{PrimType::kU64, 32};
  const kir::Vars seen =
      k.declare(Values(static_cast<size_t>(packed_), PrimValue{PrimType::kU64, 0}));
  const kir::Var flag = k.declare(u32_of(0));
  k.while_([&] { return k.eq(k.read(flag), 0); },
           [&] {
             Values words;
             for (int n = 0; n < packed_; n++) {
               words.push_back(k.atomic(AtomicOp::kLoad, PrimType::kU64, word(tile, n)));
             }
             Value found = k.convert(k.lshr(words[0], high), PrimType::kU32);
             for (size_t n = 1; n < words.size(); n++) {
               const Value other = k.convert(k.lshr(words[n], high), PrimType::kU32);
               found = k.select(k.eq(found, other), found, u32_of(0));
             }
             k.assign(seen, words);
             k.assign(flag, found);
           });
  Values words;
  for (const Value& w : k.read(seen)) words.push_back(k.convert(w, PrimType::kU32));
  return {k.read(flag), from_words(k, words, c_.op().facts.types)};
}

LookBack::Published LookBack::wait_for(const Value& tile) {
  if (packed_ > 0) return wait_for_packed(tile);
  Builder& k = t_.k;
  const kir::Var seen = k.declare(u32_of(0));
  k.while_([&] { return k.eq(k.read(seen), 0); },
           [&] {
             k.assign(seen, k.atomic(AtomicOp::kLoad, PrimType::kU32, word(tile), {},
                                     AtomicOrder::kAcquire));
           });
  const Value w = k.read(seen);
  const Value is_total = k.eq(w, kTotal);
  return {w, boxes_.load(k.select(is_total, tile, k.add(tiles_, tile)))};
}

// By one subgroup: its lanes look at as many tiles at a time, the last lane at the nearest.
void LookBack::look_back(const Value& tile, const kir::Vars& acc) {
  Builder& k = t_.k;
  const Value size = k.to_i64(t_.subgroup_size()), lane = k.lane();
  const kir::Var end = k.declare(tile), done = k.declare(kir::boolean(false));
  k.while_([&] { return k.not_(k.read(done)); },
           [&] {
             const Value at = k.add(k.sub(k.read(end), size), k.to_i64(lane));
             Values seen = k.if_values(
                 k.le(kir::i64(0), at),
                 [&] {
                   Published p = wait_for(at);
                   p.x.push_back(p.flag);
                   return p.x;
                 },
                 [&] {
                   Values none = c_.op().neutral;
                   none.push_back(u32_of(kPrefix));
                   return none;
                 });
             const Value flag = seen.back();
             seen.pop_back();
             // The nearest tile that ends the search; what stands before it is in it.
             const Value mine = k.select(k.eq(flag, kTotal), kir::i32(-1), lane);
             const Value last = k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kMax, mine);
             const Values x = select(k, k.le(last, lane), seen, c_.op().neutral);
             k.assign(acc, c_.combine(c_.subgroup_reduce(x), k.read(acc)));
             k.assign(done, k.le(kir::i32(0), last));
             k.assign(end, k.sub(k.read(end), size));
           },
           true);
}

void LookBack::look_back_alone(const Value& tile, const kir::Vars& acc) {
  Builder& k = t_.k;
  const kir::Var at = k.declare(k.sub(tile, 1));
  k.while_([&] { return k.le(kir::i64(0), k.read(at)); },
           [&] {
             const Value n = k.read(at);
             const Published p = wait_for(n);
             k.assign(acc, c_.combine(p.x, k.read(acc)));
             k.assign(at, k.select(k.eq(p.flag, kTotal), k.sub(n, 1), kir::i64(-1)));
           });
}

Values LookBack::before(const Value& tile, const Values& total) {
  Builder& k = t_.k;
  const Value first = k.eq(k.local(), 0);
  const Value searches = t_.has_subgroups() ? k.eq(k.subgroup(), 0) : first;
  k.if_(searches, [&] {
    const kir::Vars acc = k.declare(c_.op().neutral);
    k.if_(
        k.eq(tile, 0), [&] { k.if_(first, [&] { publish(tile, kPrefix, total); }); },
        [&] {
          k.if_(first, [&] { publish(tile, kTotal, total); });
          if (t_.has_subgroups()) {
            look_back(tile, acc);
          } else {
            look_back_alone(tile, acc);
          }
          k.if_(first, [&] { publish(tile, kPrefix, c_.combine(k.read(acc), total)); });
        });
    k.if_(first, [&] {
      const Values x = k.read(acc);
      for (size_t n = 0; n < x.size(); n++) k.store(found_[n], kir::i32(0), x[n]);
    });
  });
  k.barrier();
  arrive();
  Values out;
  for (const kir::SharedId s : found_) out.push_back(k.load(s, kir::i32(0)));
  return out;
}

Values LookBack::before_at_once(const Value& tile, const Values& total) {
  Builder& k = t_.k;
  k.if_(k.eq(k.local(), 0), [&] { publish(tile, kTotal, total); });
  const Value share = k.div_up(tile, t_.group_size_i64());
  const Value from = k.mul(k.to_i64(k.local()), share);
  const kir::Vars acc = k.declare(c_.op().neutral);
  k.for_(from, k.min(k.add(from, share), tile), kir::i64(1),
         [&](const Value& n) { k.assign(acc, c_.combine(k.read(acc), wait_for(n).x)); });
  const Values before = c_.reduce(k.read(acc));
  arrive();
  // Not every NaN is the same after a reduction.
  return select(k, k.eq(tile, 0), c_.op().neutral, before);
}

// Nothing is read of others from here on, and results need not have come to memory yet.
void LookBack::arrive() {
  if (arrival_) arrival_->arrive(finished());
}

void LookBack::finish() {
  if (!arrival_) return;
  Builder& k = t_.k;
  k.if_(arrival_->was_last(finished(), tiles_), [&] {
    k.if_(k.eq(k.local(), 0), [&] { reset_ticket(t_, {state_, kir::i32(0)}); });
    const Value words = k.mul(tiles_, std::max(packed_, 1));
    k.for_(k.to_i64(k.local()), words, t_.group_size_i64(), [&](const Value& n) {
      k.store(words_, n, PrimValue{word_type(packed_ > 0), 0});
    });
  });
}

void LookBack::clear(plan::Maker& m, const plan::OpFacts& op, const program::Target& target,
                     const Memory& memory) {
  const int packed = packed_words(op, target);
  const plan::HostExpr words = memory.tiles * std::max(packed, 1);
  m.step("_clear", div_up(words, plan::Maker::group_size()), [&](Team& t) {
    Builder& k = t.k;
    const Value n = k.global();
    k.if_(k.lt(n, t.host(words)), [&] {
      k.store(t.block(memory.words), n, PrimValue{word_type(packed > 0), 0});
    });
    k.if_(k.eq(n, 0), [&] { k.store(t.block(memory.state), kir::i32(0), u32_of(0)); });
  });
}

}  // namespace kenaz::primitives::blocks

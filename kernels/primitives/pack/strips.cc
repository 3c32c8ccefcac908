#include "kernels/primitives/pack/strips.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz::primitives::pack {

namespace {

constexpr PrimType kFlags = PrimType::kU32;
constexpr int kWordBits = 32;

Value flag_word(uint64_t n) { return PrimValue::of_int(kFlags, static_cast<int64_t>(n)); }

uint64_t low_bits(int n) { return (uint64_t{1} << n) - 1; }

int carried_bytes(const Facts& f) { return std::max(plan::bytes_of(f.carried), 1); }

/// Elements of each thread that shared memory has room for, beside what sums up.
int strip_room(const Facts& f, const Target& target) {
  constexpr int kApart = 8;  // bytes of each thread
  const int bytes = target.shared_bytes / plan::group_size_for(f, target) - kApart;
  return bytes / carried_bytes(f);
}

/// Neighbours that a thread makes at a time.
int strip_piece(const Facts& f, const Target& target) {
  int piece = f.widest;
  while (piece > strip_room(f, target)) piece /= 2;
  return piece;
}

// On an H200 a filter of 2^28 i32 takes 620 us by 16 elements of a thread, of which four workgroups
// are at work at a time, and 656 us by 20, of which three are.
int strip_items(const Facts& f, const Target& target) {
  constexpr int kBytes = 64;
  const int piece = strip_piece(f, target);
  const int wanted = f.items > 0 ? f.items : kBytes / carried_bytes(f);
  return std::max(std::min({wanted, strip_room(f, target), kWordBits}) / piece, 1) * piece;
}

plan::Operator sum_of_words() {
  return plan::known_operator(*op::known(ScalarOp::kAdd, kFlags), kFlags);
}

}  // namespace

bool Strips::fit(const Facts& f, const Target& target) {
  return target.fixed_subgroups && plan::has_subgroups(target) && f.classes == 1 && !f.rest &&
         !f.slow && !f.fails && f.widest <= kWordBits && strip_room(f, target) > 0;
}

HostExpr Strips::tile_size(const Facts& f, const Target& target) {
  return plan::Maker::group_size() * HostExpr(strip_items(f, target));
}

Strips::Strips(Team& team)
    : t_(team),
      strips_(team, strip_items(team.facts, team.target), strip_piece(team.facts, team.target)),
      width_(team.target.subgroup_size) {
  for (size_t n = 0; n < team.facts.carried.size(); n++) {
    carried_.push_back(
        team.shared_per_thread(fmt::format("packed{}", n), team.facts.carried[n], strips_.items()));
  }
}

// What is not before `to` has no class.
std::vector<Values> Strips::load(const Value& from, const Value& to) {
  Values none = {kir::i32(-1)};
  for (const PrimType type : t_.facts.carried) none.push_back(PrimValue{type});
  return strips_.load(strips_.tile(from, to), none);
}

Value Strips::is_kept(const Values& element) { return t_.k.eq(element[0], 0); }

Value Strips::count(const Value& from, const Value& to) {
  Builder& k = t_.k;
  Value sum = kir::i32(0);
  for (const Values& x : load(from, to)) {
    sum = k.add(sum, k.convert(is_kept(x), PrimType::kI32));
  }
  return sum;
}

Value Strips::count_bits(const Value& kept, int piece) {
  const uint64_t some = low_bits(strips_.piece()) << (piece * strips_.piece());
  return t_.k.convert(t_.k.prim(ScalarOp::kPopc, {t_.k.and_(kept, flag_word(some))}), kFlags);
}

// For each piece of this thread how many elements (i32) are kept before it in the strip, and how
// many in all of that. The counts of some pieces share a word, which has room for a subgroup's.
std::vector<Value> Strips::before_pieces(const Value& kept, Value& strip) {
  Builder& k = t_.k;
  const int bits = strips_.piece() * width_ < 256 ? 8 : 16, together = kWordBits / bits;
  const int pieces = strips_.items() / strips_.piece();
  blocks::SubgroupCombiner lanes(t_, sum_of_words());
  std::vector<Value> before;
  strip = kir::i32(0);
  for (int first = 0; first < pieces; first += together) {
    const int end = std::min(first + together, pieces);
    const auto shift = [&](int piece) {
      return flag_word(static_cast<uint64_t>(bits) * static_cast<uint64_t>(piece - first));
    };
    Value counts = flag_word(0);
    for (int j = first; j < end; j++) {
      counts = k.add(counts, k.shl(count_bits(kept, j), shift(j)));
    }
    const Value inclusive = lanes.subgroup_inclusive({counts})[0];
    const Value exclusive = k.sub(inclusive, counts);
    const Value total = k.shuffle(kir::SubgroupOp::kShuffle, inclusive, kir::i32(width_ - 1));
    for (int j = first; j < end; j++) {
      const auto count_in = [&](const Value& of) {
        return k.to_i32(k.and_(k.lshr(of, shift(j)), flag_word(low_bits(bits))));
      };
      before.push_back(k.add(strip, count_in(exclusive)));
      strip = k.add(strip, count_in(total));
    }
  }
  return before;
}

void Strips::pack(Combiner& sums, const Value& from, const Value& to, const Start& start) {
  Builder& k = t_.k;
  const std::vector<Values> elements = load(from, to);
  Value kept = flag_word(0);  // a bit for each element
  for (int i = 0; i < strips_.items(); i++) {
    const Value one = k.convert(is_kept(elements[static_cast<size_t>(i)]), kFlags);
    kept = k.or_(kept, k.shl(one, flag_word(static_cast<uint64_t>(i))));
  }
  Value strip;
  const std::vector<Value> before = before_pieces(kept, strip);
  const Combiner::Scan strips = sums.scan_subgroups({strip});
  // A slot is the one before it and a bit. (By counting the bits before it a filter of 2^28 i32
  // took 634 us on an H200, not 620: GPUs count them at a quarter of the rate.)
  Value slot;
  for (int i = 0; i < strips_.items(); i++) {
    const auto bit = [&](int n) {
      return k.and_(k.lshr(kept, flag_word(static_cast<uint64_t>(n))), flag_word(1));
    };
    slot = i % strips_.piece() == 0
               ? k.add(strips.before[0], before[static_cast<size_t>(i / strips_.piece())])
               : k.add(slot, k.to_i32(bit(i - 1)));
    k.if_(k.ne(bit(i), flag_word(0)), [&] {
      const Values& x = elements[static_cast<size_t>(i)];
      for (size_t n = 0; n < carried_.size(); n++) k.store(carried_[n], slot, x[n + 1]);
    });
  }
  // It may wait; by then the elements are in shared memory.
  put(start(strips.total[0]), strips.total[0]);
}

void Strips::put(const Value& start, const Value& count) {
  Builder& k = t_.k;
  const Value first = k.to_i64(start);
  // In a loop threads could stop, and what they count in the next tile would be missing.
  k.repeat(strips_.items(), [&](int i) {
    const Value slot = k.add(k.mul(t_.group_size(), i), k.local());
    k.if_(k.lt(slot, count), [&] {
      Values x;
      for (const kir::SharedId s : carried_) x.push_back(k.load(s, slot));
      t_.problem.sink.put(k, {kir::i64(0), k.add(first, k.to_i64(slot))}, x);
    });
  });
}

}  // namespace kenaz::primitives::pack

#include "kernels/primitives/sort/ranks.h"

#include <algorithm>

namespace kenaz::primitives::sort {

namespace {

Value u32(int64_t n) { return PrimValue::of_int(PrimType::kU32, n); }

plan::Operator sum() {
  return plan::known_operator(*op::known(ScalarOp::kAdd, PrimType::kI32), PrimType::kI32);
}

int words_of(const Shape& s) { return (s.lanes + 31) / 32; }

}  // namespace

Ranks::Ranks(Team& team, const Shape& shape)
    : t_(team),
      s_(shape),
      counts_(team.shared_per_thread("counts", PrimType::kU32, shape.digits / shape.lanes)),
      sums_(team, sum()),
      subgroup_(team.k.local()),
      lane_(kir::i32(0)),
      width_(kir::i32(1)),
      rows_(team.group_size()),
      turns_(kir::i32(1)) {
  if (s_.lanes == 1) return;
  Builder& k = t_.k;
  subgroup_ = k.subgroup();
  lane_ = k.lane();
  const Value lanes = kir::i32(s_.lanes);
  rows_ = k.max(k.quot(t_.group_size(), lanes), kir::i32(1));
  // Where the driver's subgroups are smaller than the target says, several share a row, one after
  // the other: a loop, around which NVIDIA's compiler keeps an address for each element, and more.
  width_ = t_.subgroup_size();
  if (!t_.target.fixed_subgroups) turns_ = k.div_up(k.subgroups(), rows_);
}

Value Ranks::own(int j) {
  Builder& k = t_.k;
  return k.add(k.add(k.mul(k.mul(subgroup_, s_.items), width_), lane_), k.mul(width_, j));
}

Value Ranks::own(const Value& from, int j) {
  Builder& k = t_.k;
  return k.add(k.add(from, k.to_i64(own(0))), k.to_i64(k.mul(width_, j)));
}

Value Ranks::cell(const Value& row, const Value& digit) {
  return t_.k.add(t_.k.mul(row, s_.digits), digit);
}

void Ranks::begin_tile() {
  Builder& k = t_.k;
  k.repeat(s_.digits / s_.lanes,
           [&](int i) { k.store(counts_, k.add(k.mul(t_.group_size(), i), k.local()), u32(0)); });
}

void Ranks::for_own_digits(const std::function<void(const Value&)>& body) {
  Builder& k = t_.k;
  const Value digits = kir::i32(s_.digits), each = k.div_up(digits, t_.group_size());
  k.for_(
      each,
      [&](const Value& i) {
        const Value digit = k.add(k.mul(k.local(), each), i);
        k.if_(k.lt(digit, digits), [&] { body(digit); });
      },
      true);
}

// Those of a subgroup of whose number is less than the lane's.
Value Ranks::lane_mask(int word) {
  Builder& k = t_.k;
  const Value in_word = k.sub(lane_, 32 * word);
  const Value some =
      k.sub(k.shl(u32(1), k.convert(k.and_(in_word, kir::i32(31)), PrimType::kU32)), u32(1));
  if (words_of(s_) == 1) return some;
  const Value all = u32(0xffffffff);
  return k.select(k.lt(in_word, 0), u32(0), k.select(k.lt(in_word, 32), some, all));
}

void Ranks::count_one(const Value& digit, const Values& everyone, const kir::Var& counted_as) {
  Builder& k = t_.k;
  // Who has the same digit.
  Values same = everyone;
  // On an H100 a sort of 2^27 u32 took 4,572 us with this, and 4,913 us where the bit, made a mask,
  // flipped the ballot.
  for (int b = 0; b < s_.bits; b++) {
    const Value has_it = k.ne(k.and_(digit, kir::i32(1 << b)), kir::i32(0));
    for (size_t w = 0; w < same.size(); w++) {
      const Value have = k.ballot(has_it, static_cast<int>(w));
      same[w] = k.and_(same[w], k.select(has_it, have, k.xor_(have, u32(0xffffffff))));
    }
  }
  Value below = kir::i32(0), all = kir::i32(0), first = kir::i32(0);
  for (size_t w = same.size(); w-- > 0;) {
    const Value lower = k.and_(same[w], lane_mask(static_cast<int>(w)));
    below = k.add(below, k.prim(ScalarOp::kPopc, {lower}));
    all = k.add(all, k.prim(ScalarOp::kPopc, {same[w]}));
    const Value there = k.add(k.prim(ScalarOp::kCtz, {same[w]}), 32 * static_cast<int64_t>(w));
    first = k.select(k.ne(same[w], u32(0)), there, first);
  }
  // The first of them counts for all.
  const kir::Var counted = k.declare(u32(0));
  k.if_(k.eq(below, 0), [&] {
    const kir::Address at{counts_, cell(k.quot(subgroup_, turns_), digit)};
    k.assign(counted,
             k.atomic(kir::AtomicOp::kAdd, PrimType::kU32, at, k.convert(all, PrimType::kU32)));
  });
  const Value earlier = k.shuffle(kir::SubgroupOp::kShuffle, k.read(counted), first);
  k.assign(counted_as, k.or_(k.add(k.to_i32(earlier), below), k.shl(digit, kir::i32(kRankBits))));
}

// NVIDIA's compiler would find out who has the same digits of all elements before it counts the
// first, and keep that: 116 registers of a thread instead of 92. So each waits for the fourth
// before it, whose sign is never set.
void Ranks::count_in_turn(const Values& digits, const kir::Vars& counted) {
  Builder& k = t_.k;
  constexpr size_t kOnTheirWay = 4;
  Values everyone;
  for (int w = 0; w < words_of(s_); w++) everyone.push_back(k.ballot(kir::boolean(true), w));
  for (size_t j = 0; j < digits.size(); j++) {
    Value digit = digits[j];
    if (j >= kOnTheirWay) {
      digit = k.add(digit, k.lshr(k.read(counted[j - kOnTheirWay]), kir::i32(31)));
    }
    count_one(digit, everyone, counted[j]);
  }
}

void Ranks::count(const Values& digits, const kir::Vars& counted) {
  Builder& k = t_.k;
  if (s_.lanes == 1) {
    for (size_t j = 0; j < digits.size(); j++) {
      const Value at = cell(subgroup_, digits[j]), n = k.load(counts_, at);
      k.assign(counted[j], k.or_(k.to_i32(n), k.shl(digits[j], kir::i32(kRankBits))));
      k.store(counts_, at, k.add(n, 1));
    }
    return;
  }
  if (turns_.is_const()) {
    count_in_turn(digits, counted);
    return;
  }
  const Value turn_of = k.rem(subgroup_, turns_);
  k.for_(
      turns_,
      [&](const Value& turn) {
        k.if_(k.eq(turn_of, turn), [&] { count_in_turn(digits, counted); });
        k.barrier();
      },
      true);
}

void Ranks::places(const Values& digits, const Begin& begin, const Place& place) {
  Builder& k = t_.k;
  k.barrier();  // the counts are 0
  const kir::Vars counted = k.declare(Values(digits.size(), kir::i32(0)));
  count(digits, counted);
  k.barrier();
  const kir::Var sum = k.declare(kir::i32(0));
  const auto add = [&](const Value& n) { k.assign(sum, k.add(k.read(sum), k.to_i32(n))); };
  for_own_digits([&](const Value& digit) {
    k.for_(
        rows_, [&](const Value& row) { add(k.load(counts_, cell(row, digit))); }, true);
  });
  // Counts become the places of the first that are counted there.
  k.assign(sum, sums_.scan({k.read(sum)}).before[0]);
  for_own_digits([&](const Value& digit) {
    const Value first = k.read(sum);
    k.for_(
        rows_,
        [&](const Value& row) {
          const Value n = k.load(counts_, cell(row, digit));
          k.store(counts_, cell(row, digit), k.convert(k.read(sum), PrimType::kU32));
          add(n);
        },
        true);
    begin(digit, first, k.sub(k.read(sum), first));
  });
  k.barrier();
  const Value row = k.quot(subgroup_, turns_);
  for (size_t j = 0; j < counted.size(); j++) {
    const Value books = k.read(counted[j]), digit = k.lshr(books, kir::i32(kRankBits));
    const Value rank = k.and_(books, kir::i32((1 << kRankBits) - 1));
    place(j, k.add(k.to_i32(k.load(counts_, cell(row, digit))), rank));
  }
}

}  // namespace kenaz::primitives::sort

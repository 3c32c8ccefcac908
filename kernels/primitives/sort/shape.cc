#include "kernels/primitives/sort/shape.h"

#include <algorithm>

namespace kenaz::primitives::sort {

namespace {

constexpr int kMostBits = 8;
// Counts of each thread in shared memory, at most.
constexpr int kCounts = 16;
// Per thread and value of a digit, what else is there: words of two combiners; in "digits" two
// positions, in "one_sweep" a position and two counts.
constexpr int kBytesPerThread = 12, kBytesPerDigit = 16;

int element_bytes(const Facts& f) { return prim_size(f.key) + plan::bytes_of(f.carried); }

/// Elements of a thread that shared memory has room for.
int room(const Facts& f, const Target& target, const Shape& s, int threads) {
  const int counts = 4 * s.digits / s.lanes;
  const int left =
      target.shared_bytes - kBytesPerDigit * s.digits - threads * (counts + kBytesPerThread);
  return left / (threads * element_bytes(f));
}

}  // namespace

Shape shape_of(const Facts& f, const Target& target) {
  Shape s{};
  s.lanes = plan::has_subgroups(target) ? target.subgroup_size : 1;
  s.bits = kMostBits;
  while ((1 << s.bits) > kCounts * s.lanes) s.bits--;
  s.digits = std::max(1 << s.bits, s.lanes);
  const int key_bits = 8 * prim_size(f.key);
  s.passes = (key_bits + s.bits - 1) / s.bits;
  // On an H200 sorts of 2^27 u32 take 3,943 us with 16 elements of a thread, 4,032 us with 20, and
  // 3,745 us with 24; llvmpipe took 1.08 as long with 20 as with 16. Of 2^26 u64 they took 6,254 us
  // with 12 and 6,857 us with 16 (on an H100).
  constexpr int kThreads = 256, kFewItems = 4, kKeyBytes = 96;
  const bool wide = s.lanes >= 32;
  const int bytes = wide ? 160 : 96;
  const int most = wide ? std::min(24, kKeyBytes / static_cast<int>(prim_size(f.key))) : 16;
  s.threads = plan::group_size_for(f, target, kThreads);
  while (s.threads / 2 >= s.lanes && room(f, target, s, s.threads) < kFewItems) s.threads /= 2;
  const int wanted = f.items > 0 ? f.items : std::clamp(bytes / element_bytes(f), kFewItems, most);
  s.items = std::clamp(room(f, target, s, s.threads), 1, wanted);
  // Keys are counted by vectors.
  if (s.items > 2) s.items -= s.items % (s.items < 8 ? 2 : 4);
  return s;
}

HostExpr tile_size(const Shape& s) { return plan::Maker::group_size() * HostExpr(s.items); }

int64_t turns_per_tile(const Shape& s) { return 4 * s.digits + s.lanes + 100; }

Value digit_of(Builder& k, const Shape& s, const Value& key, int shift) {
  return digit_of(k, s, key, kir::i32(shift));
}

Value digit_of(Builder& k, const Shape& s, const Value& key, const Value& shift) {
  const PrimType type = key.type.prim;
  const Value at = k.lshr(key, k.convert(shift, type));
  const Value low = k.and_(at, PrimValue::of_int(type, (1 << s.bits) - 1));
  return k.to_i32(low);
}

}  // namespace kenaz::primitives::sort

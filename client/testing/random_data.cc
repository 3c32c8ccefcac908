#include "client/testing/random_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kenaz::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{8} << 30;

/// SplitMix64 (Steele, Lea, Flood 2014): every seed is fine, and one multiply-xor chain per word.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

uint64_t random_bits(PrimType type, uint64_t word) {
  switch (prim_kind(type)) {
    case PrimKind::kFloat:
      return PrimValue::of_float(type, static_cast<double>(word >> 11) * 0x1p-53).bits;
    case PrimKind::kBool: return word >> 63;
    case PrimKind::kSigned:
    case PrimKind::kUnsigned: return word >> (64 - prim_bits(type));
  }
  return 0;
}

uint64_t bounded_bits(PrimType type, uint64_t word, const RandomBounds& bounds) {
  if (is_float(type)) {
    const double low = bounds.low.as_double(), high = bounds.high.as_double();
    const double part = static_cast<double>(word >> 11) * 0x1p-53;
    // Weighted like this the range itself may be larger than the largest number.
    return PrimValue::of_float(type, std::clamp(low * (1 - part) + high * part, low, high)).bits;
  }
  if (type == PrimType::kBool) {
    return bounds.low.bits == bounds.high.bits ? bounds.low.bits : word >> 63;
  }
  // Wraps to the right difference for signed types, too; 0 values: all of the 64 bits.
  const bool is_signed = prim_kind(type) == PrimKind::kSigned;
  const auto low = is_signed ? static_cast<uint64_t>(bounds.low.as_i64()) : bounds.low.as_u64();
  const auto high = is_signed ? static_cast<uint64_t>(bounds.high.as_i64()) : bounds.high.as_u64();
  const uint64_t values = high - low + 1;
  const uint64_t n = values == 0 ? word : low + word % values;
  return PrimValue::of_int(type, static_cast<int64_t>(n)).bits;
}

}  // namespace

Result<data::Value> random_value(const RandomType& type, uint64_t seed,
                                 std::optional<RandomBounds> bounds) {
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(type.prim, type.shape));
  if (bytes > kMaxBytes) {
    return bad_request(fmt::format("random data of type {} would be too large", type.name()));
  }
  data::Value value{type.prim, type.shape, {}};
  value.bytes.resize(static_cast<size_t>(bytes));
  Random random(seed);
  const size_t size = static_cast<size_t>(prim_size(type.prim));
  for (size_t at = 0; at < value.bytes.size(); at += size) {
    const uint64_t bits = bounds ? bounded_bits(type.prim, random.next(), *bounds)
                                 : random_bits(type.prim, random.next());
    std::memcpy(value.bytes.data() + at, &bits, size);
  }
  return value;
}

}  // namespace kenaz::testing

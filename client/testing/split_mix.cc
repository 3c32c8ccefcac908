#include "client/testing/split_mix.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace kenaz::testing {
namespace {

constexpr int64_t kMaxCandidateBytes = int64_t{1} << 32;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

/// One of the two mixing functions of the paper: shifts and factors are its parameters.
uint64_t mix(uint64_t z, int a, uint64_t m, int b, uint64_t n, int c) {
  z = (z ^ (z >> a)) * m;
  z = (z ^ (z >> b)) * n;
  return z ^ (z >> c);
}

uint64_t mix_state(uint64_t z) {
  return mix(z, 33, 0xff51afd7ed558ccdu, 33, 0xc4ceb9fe1a85ec53u, 33);
}

/// A step must be odd, and have enough pairs of neighbouring bits that differ.
uint64_t mix_step(uint64_t seed) {
  const uint64_t z = mix(seed, 30, 0xbf58476d1ce4e5b9u, 27, 0x94d049bb133111ebu, 31) | 1;
  return std::popcount(z ^ (z >> 1)) >= 24 ? z : z ^ 0xaaaaaaaaaaaaaaaau;
}

/// The bits of an element. Which bits of a number the package takes depends on the type.
uint64_t element_bits(PrimType type, uint64_t word) {
  const auto low = static_cast<uint32_t>(word);
  const int bits = prim_bits(type);
  switch (prim_kind(type)) {
    case PrimKind::kFloat: {
      const double part = type == PrimType::kF64 ? static_cast<double>(word) / 0x1p64
                                                 : static_cast<double>(low) / 0x1p32;
      return PrimValue::of_float(type, 1 - 2 * part).bits;
    }
    case PrimKind::kBool: return word & 1;
    case PrimKind::kSigned: return word ^ (uint64_t{1} << (bits - 1));  // counted from the lowest
    case PrimKind::kUnsigned: return bits == 64 ? word : low >> (32 - bits);
  }
  return 0;
}

}  // namespace

SplitMix::SplitMix(uint64_t seed) : state_(mix_state(seed)), step_(mix_step(seed + kGolden)) {}

uint64_t SplitMix::next() { return mix_state(state_ += step_); }

Result<data::Value> uniform_value(PrimType type, const std::vector<int64_t>& shape, uint64_t seed) {
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(type, shape));
  if (bytes > kMaxCandidateBytes) {
    return bad_request(fmt::format("a random value of type {}{} would be too large",
                                   data::shape_text(shape), prim_name(type)));
  }
  data::Value value{type, shape, {}};
  value.bytes.resize(static_cast<size_t>(bytes));
  SplitMix random(seed);
  const auto size = static_cast<size_t>(prim_size(type));
  for (size_t at = 0; at < value.bytes.size(); at += size) {
    const uint64_t bits = element_bits(type, random.next());
    std::memcpy(value.bytes.data() + at, &bits, size);
  }
  return value;
}

}  // namespace kenaz::testing

// Quotients and roots of f32 by fused operations (library/f32_fused.glsl.inc), with the same steps
// on the CPU: they must be rounded correctly whatever estimates of reciprocals a device begins
// with.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace kenaz::glsl {
namespace {

constexpr uint32_t kHidden = uint32_t{1} << 23;
// Numerators over a denominator in which the distance of the quotient from the middle between two
// floats is counted. What the steps leave is less than five of these.
constexpr int kNearest = 9;

float moved(float x, int units) {
  return std::bit_cast<float>(
      static_cast<uint32_t>(static_cast<int>(std::bit_cast<uint32_t>(x)) + units));
}

float quotient(float a, float b, float estimate) {
  float r = estimate;
  r = std::fma(std::fma(-b, r, 1.0F), r, r);
  const float q = a * r;
  return std::fma(std::fma(-b, q, a), r, q);
}

float root(float x, float estimate) {
  const float r = estimate;
  float s = x * r, h = -0.5F * r;
  const float e = std::fma(h, s, 0.5F);
  s = std::fma(s, e, s);
  h = std::fma(h, e, h);
  return std::fma(std::fma(s, s, -x), h, s);
}

/// `a` is 2^-shift modulo m, which is odd.
uint64_t inverse_of_power(int shift, uint64_t m) {
  uint64_t a = 1 % m;
  for (; shift > 0; shift--) a = (a % 2 != 0 ? a + m : a) / 2;
  return a;
}

/// Of the float with this significand: quotients of all floats for which a * 2^shift is `distance`
/// more than a multiple of b by an odd number, in significands: their quotients lie next to a
/// middle.
int wrong_quotients(uint32_t b) {
  int wrong = 0;
  const float denominator = std::ldexp(static_cast<float>(b), -23);
  const auto nearest = static_cast<float>(1.0 / static_cast<double>(denominator));
  const int even = std::countr_zero(b);
  const uint64_t m = b >> even;
  for (int shift = 24; shift <= 25; shift++) {
    const uint64_t inverse = inverse_of_power(shift - even, m);
    for (int64_t odd = -kNearest; odd <= kNearest; odd += 2) {
      if (std::abs(odd << even) > kNearest) continue;
      const auto modulus = static_cast<int64_t>(m);
      const int64_t rest = ((static_cast<int64_t>(inverse) * odd) % modulus + modulus) % modulus;
      uint64_t a = kHidden + (static_cast<uint64_t>(rest) + m - kHidden % m) % m;
      for (; a < 2 * kHidden; a += m) {
        if ((shift == 24) != (a >= b)) continue;
        const float numerator = std::ldexp(static_cast<float>(a), -23);
        const auto exact =
            static_cast<float>(static_cast<double>(numerator) / static_cast<double>(denominator));
        for (int units = -3; units <= 3; units++) {
          wrong += quotient(numerator, denominator, moved(nearest, units)) != exact ? 1 : 0;
        }
      }
    }
  }
  return wrong;
}

TEST(FusedRounding, QuotientsNextToTheMiddleBetweenTwoFloats) {
  // Every denominator was tried once; this takes one of some hundred, and those next to the powers
  // of two and to what the library leaves to integers.
  constexpr uint32_t kLeftOut = 2 * kHidden - 128;
  for (uint32_t b = kHidden; b < kLeftOut;) {
    ASSERT_EQ(wrong_quotients(b), 0) << b;
    b += b < kHidden + 256 || b >= kLeftOut - 256 ? 1 : 211;
    if (b > kLeftOut - 211 && b < kLeftOut - 256) b = kLeftOut - 256;
  }
}

TEST(FusedRounding, QuotientsThatTheLibraryLeavesOutAreWrong) {
  int wrong = 0;
  for (uint32_t b = 2 * kHidden - 128; b < 2 * kHidden; b++) wrong += wrong_quotients(b);
  EXPECT_GT(wrong, 0);
}

TEST(FusedRounding, Roots) {
  // From 1 to 4, where both parities of exponents are.
  for (uint32_t bits = std::bit_cast<uint32_t>(1.0F); bits < std::bit_cast<uint32_t>(4.0F);
       bits += 61) {
    const auto x = std::bit_cast<float>(bits);
    const double exact = std::sqrt(static_cast<double>(x));
    const auto estimate = static_cast<float>(1.0 / exact);
    for (int units = -3; units <= 3; units++) {
      ASSERT_EQ(root(x, moved(estimate, units)), static_cast<float>(exact)) << x << " " << units;
    }
  }
}

}  // namespace
}  // namespace kenaz::glsl

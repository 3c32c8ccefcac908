// Quotients and roots of f32 by fused operations (library/f32_fused.glsl.inc), with the same steps
// on the CPU: they must be rounded correctly whatever estimates of reciprocals a device begins
// with.
#include <gtest/gtest.h>

#include <algorithm>
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

float rounded_quotient(float a, float b, float r) {
  const float q = a * r;
  return std::fma(std::fma(-b, q, a), r, q);
}

float quotient(float a, float b, float estimate) {
  const float r = std::fma(std::fma(-b, estimate, 1.0F), estimate, estimate);
  return rounded_quotient(a, b, r);
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

struct Wrong {
  int by_estimates = 0;  // of those up to three units from the reciprocal
  int by_reciprocal = 0;
};

/// Of the float with this significand: quotients of all floats for which a * 2^shift is `distance`
/// more than a multiple of b by an odd number, in significands: their quotients lie next to a
/// middle.
Wrong wrong_quotients(uint32_t b) {
  Wrong wrong;
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
          const float made = quotient(numerator, denominator, moved(nearest, units));
          wrong.by_estimates += made != exact ? 1 : 0;
        }
        const float made = rounded_quotient(numerator, denominator, nearest);
        wrong.by_reciprocal += made != exact ? 1 : 0;
      }
    }
  }
  return wrong;
}

/// is_usual_div_f32: significands that differ from the greatest in no other bits than these.
constexpr uint32_t kLeftOut = 6;
bool is_left_out(uint32_t b) { return (b | kLeftOut) == 2 * kHidden - 1; }

TEST(FusedRounding, QuotientsNextToTheMiddleBetweenTwoFloats) {
  // Every denominator was tried once, with all numerators; this takes one of some hundred, and
  // those next to the powers of two.
  constexpr uint32_t kNear = 384;
  for (uint32_t b = kHidden; b < 2 * kHidden;) {
    const Wrong wrong = wrong_quotients(b);
    ASSERT_TRUE(is_left_out(b) || wrong.by_estimates == 0) << b;
    ASSERT_EQ(wrong.by_reciprocal, 0) << b;
    const bool near = b < kHidden + kNear || b >= 2 * kHidden - kNear;
    b = near ? b + 1 : std::min(b + 211, 2 * kHidden - kNear);
  }
}

TEST(FusedRounding, QuotientsThatTheLibraryLeavesOutAreWrong) {
  for (const uint32_t below : {1, 3, 5}) {
    EXPECT_TRUE(is_left_out(2 * kHidden - below));
    EXPECT_GT(wrong_quotients(2 * kHidden - below).by_estimates, 0) << below;
  }
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

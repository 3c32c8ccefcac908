#include "protocol/prim_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kenaz {
namespace {

TEST(PrimType, NamesRoundTrip) {
  for (int i = 0; i < kPrimTypeCount; ++i) {
    const auto t = static_cast<PrimType>(i);
    EXPECT_EQ(prim_from_name(prim_name(t)), t);
  }
  EXPECT_FALSE(prim_from_name("i33"));
  EXPECT_EQ(prim_bits(PrimType::kBool), 1);
  EXPECT_EQ(prim_bits(PrimType::kF16), 16);
}

TEST(PrimValue, IntegersTruncateAndExtend) {
  EXPECT_EQ(PrimValue::of_int(PrimType::kI8, -1).bits, 0xffu);
  EXPECT_EQ(PrimValue::of_int(PrimType::kI8, -1).as_i64(), -1);
  EXPECT_EQ(PrimValue::of_int(PrimType::kU8, -1).as_i64(), 255);
  EXPECT_EQ(PrimValue::of_int(PrimType::kU64, -1).as_double(), 18446744073709551616.0);
  EXPECT_EQ(PrimValue::i64(std::numeric_limits<int64_t>::min()).as_i64(),
            std::numeric_limits<int64_t>::min());
}

TEST(Half, EveryHalfSurvivesTheTripThroughFloat) {
  for (uint32_t h = 0; h < 0x10000u; ++h) {
    const float f = half_to_float(static_cast<uint16_t>(h));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(f))));
    } else {
      ASSERT_EQ(float_to_half(f), h);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(65519.99f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);                  // a tie, to even
  EXPECT_EQ(float_to_half(0x1.000002p-25f), 1);           // just above it
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);      // tie down
  EXPECT_EQ(float_to_half(1.0f + 0x3p-11f), 0x3c02);      // tie up
  EXPECT_EQ(float_to_half(2.0f - 0x1p-11f), 0x4000);      // carry into the exponent
  EXPECT_EQ(float_to_half(0x1p-14f - 0x1p-25f), 0x0400);  // subnormal to normal
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  // Rounding once: through float this would become a tie and go to even.
  EXPECT_EQ(PrimValue::of_float(PrimType::kF16, 1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01u);
}

}  // namespace
}  // namespace kenaz

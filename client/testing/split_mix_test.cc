#include "client/testing/split_mix.h"

#include <gmock/gmock.h>

#include "protocol/data/text_format.h"

namespace kenaz::testing {
namespace {

std::string text(PrimType type, std::vector<int64_t> shape, uint64_t seed) {
  return data::to_text(*uniform_value(type, shape, seed));
}

// What `futhark test --seed=123` reports of candidates of these types.
TEST(SplitMix, IsThatOfFutharkTest) {
  const uint64_t seed = SplitMix(SplitMix(123).next()).next();
  EXPECT_EQ(text(PrimType::kI8, {2}, seed), "[-119i8, -43i8]");
  EXPECT_EQ(text(PrimType::kU64, {1}, seed), "[10612112620025966601u64]");
  EXPECT_EQ(text(PrimType::kU8, {1, 1}, seed), "[[217u8]]");
  EXPECT_EQ(text(PrimType::kBool, {3}, seed), "[true, true, false]");
  EXPECT_EQ(text(PrimType::kI16, {2, 2}, seed), "[[-4087i16, -17067i16], [-4772i16, 30847i16]]");
}

TEST(SplitMix, FloatsLieBetweenMinusOneAndOne) {
  for (const PrimType type : {PrimType::kF16, PrimType::kF32, PrimType::kF64}) {
    const auto value = uniform_value(type, {1000}, 5);
    double low = 1, high = -1;
    for (int64_t i = 0; i < 1000; ++i) {
      low = std::min(low, value->at(i).as_double());
      high = std::max(high, value->at(i).as_double());
    }
    EXPECT_GE(low, -1);
    EXPECT_LT(low, -0.9);
    EXPECT_LE(high, 1);
    EXPECT_GT(high, 0.9);
  }
}

TEST(SplitMix, RefusesWhatIsTooLarge) {
  EXPECT_FALSE(uniform_value(PrimType::kF64, {1 << 30, 1 << 30}, 1));
}

}  // namespace
}  // namespace kenaz::testing

#include "client/cli/show.h"

#include <gtest/gtest.h>

#include "client/testing/random_data.h"

namespace kenaz::cli {
namespace {

data::Value counting(std::vector<int64_t> shape) {
  data::Value value{PrimType::kI32, std::move(shape), {}};
  int64_t n = 1;
  for (const int64_t d : value.shape) n *= d;
  for (int64_t i = 0; i < n; ++i) data::append(value, PrimValue::i32(static_cast<int32_t>(i)));
  return value;
}

TEST(Show, SmallValuesInFull) {
  EXPECT_EQ(abbreviated(counting({})), "0i32");
  EXPECT_EQ(abbreviated(counting({2, 2})), "[[0i32, 1i32], [2i32, 3i32]]");
  EXPECT_EQ(abbreviated(counting({0, 2})), "empty([0][2]i32)");
}

TEST(Show, EndsOfLargeOnes) {
  EXPECT_EQ(abbreviated(counting({101})), "[0i32, 1i32, 2i32, ..., 98i32, 99i32, 100i32]");
  EXPECT_EQ(abbreviated(counting({100, 2})),
            "[[0i32, 1i32], [2i32, 3i32], [4i32, 5i32], ..., "
            "[194i32, 195i32], [196i32, 197i32], [198i32, 199i32]]");
  EXPECT_EQ(abbreviated(counting({1, 1, 101})),
            "[[[0i32, 1i32, 2i32, ..., 98i32, 99i32, 100i32]]]");
}

TEST(RandomData, StaysInItsBounds) {
  const auto check = [](PrimType type, PrimValue low, PrimValue high) {
    const auto value = testing::random_value({type, {1000}}, 5, testing::RandomBounds{low, high});
    ASSERT_TRUE(value) << value.error().text();
    bool lowest = false, highest = false;
    for (int64_t i = 0; i < 1000; ++i) {
      const auto x = value->at(i);
      if (is_float(type)) {
        EXPECT_GE(x.as_double(), low.as_double());
        EXPECT_LE(x.as_double(), high.as_double());
      } else {
        EXPECT_GE(x.as_i64(), low.as_i64());
        EXPECT_LE(x.as_i64(), high.as_i64());
        lowest = lowest || x == low;
        highest = highest || x == high;
      }
    }
    EXPECT_TRUE(is_float(type) || (lowest && highest));
  };
  check(PrimType::kI8, PrimValue::of_int(PrimType::kI8, -2), PrimValue::of_int(PrimType::kI8, 3));
  check(PrimType::kU16, PrimValue::of_int(PrimType::kU16, 7), PrimValue::of_int(PrimType::kU16, 9));
  check(PrimType::kF32, PrimValue::f32(-1e38f), PrimValue::f32(2e38f));
  check(PrimType::kF64, PrimValue::f64(-1.7e308), PrimValue::f64(1.7e308));
}

}  // namespace
}  // namespace kenaz::cli

#include "client/bench/sizes.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

TEST(BenchSizes, OfTypes) {
  EXPECT_EQ(size_in_name("[1000]i32"), 1000);
  EXPECT_EQ(size_in_name("[100][20]f32 [100]f32 5i64"), 2000);
}

TEST(BenchSizes, OfNumbers) {
  EXPECT_EQ(size_in_name("n = 10_000"), 10000);
  EXPECT_EQ(size_in_name("1e6"), 1e6);
  EXPECT_EQ(size_in_name("2^20"), 1 << 20);
  EXPECT_EQ(size_in_name("64k"), 64000);
  EXPECT_EQ(size_in_name("3M rows"), 3e6);
  EXPECT_EQ(size_in_name("data/n5000.in"), 5000);
  EXPECT_EQ(size_in_name("#7 (\"10i64\")"), 10);
  EXPECT_EQ(size_in_name("(ramp 1000i64, 3f32)"), 1000);
}

TEST(BenchSizes, None) {
  EXPECT_EQ(size_in_name("small"), std::nullopt);
  EXPECT_EQ(size_in_name("#3 (\"[1i32, 2i32]\")"), std::nullopt);
  EXPECT_EQ(size_in_name("[0]f32"), std::nullopt);  // has no place on a logarithmic axis
  EXPECT_EQ(size_in_name(""), std::nullopt);
}

}  // namespace
}  // namespace kenaz::bench

#include "client/cli/plot.h"

#include <gtest/gtest.h>

#include <limits>

namespace kenaz::cli {
namespace {

data::Value of(std::initializer_list<double> xs) {
  data::Value value{PrimType::kF64, {static_cast<int64_t>(xs.size())}, {}};
  for (const double x : xs) data::append(value, PrimValue::of_float(PrimType::kF64, x));
  return value;
}

data::Value integers(PrimType type, std::initializer_list<int64_t> xs) {
  data::Value value{type, {static_cast<int64_t>(xs.size())}, {}};
  for (const int64_t x : xs) data::append(value, PrimValue::of_int(type, x));
  return value;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Statistics, OfWhatIsFinite) {
  EXPECT_EQ(statistics(of({2, 4, 4, 4, 5, 5, 7, 9})),
            "[8]f64: 2 .. 9, mean 5, standard deviation 2");
  EXPECT_EQ(statistics(of({1, kInf, 3, -kInf})),
            "[4]f64: 1 .. 3, mean 2, standard deviation 1, 2 not finite");
  EXPECT_EQ(statistics(of({kInf})), "[1]f64, 1 not finite");
  EXPECT_EQ(statistics(of({})), "[0]f64");
  EXPECT_EQ(statistics(integers(PrimType::kU64, {-1})),
            "[1]u64: 1.84467e+19 .. 1.84467e+19, mean 1.84467e+19, standard deviation 0");
  EXPECT_EQ(statistics(integers(PrimType::kI8, {-128, 127})),
            "[2]i8: -128 .. 127, mean -0.5, standard deviation 127.5");
}

TEST(Plot, AColumnForEachElement) {
  EXPECT_EQ(plot(integers(PrimType::kI32, {0, 1, 2, 1, -2}), 80, 5).value(),
            " 2 |  *\n"
            "   | * *\n"
            "   |*\n"
            "   |\n"
            "-2 |    *\n"
            "   +-----\n");
}

TEST(Plot, AColumnShowsTheRangeOfMany) {
  EXPECT_EQ(plot(of({0, 2, 1, 1, 2, 2}), 3, 3).value(),
            "2 |* *\n"
            "  |**\n"
            "0 |*\n"
            "  +---\n");
}

TEST(Plot, ConstantsAndWhatIsNotFinite) {
  EXPECT_EQ(plot(of({3, kInf, 3}), 10, 2).value(), "3 |\n3 |* *\n  +---\n");
  EXPECT_FALSE(plot(of({kInf}), 10, 2));
  EXPECT_FALSE(plot(of({}), 10, 2));
  data::Value matrix = of({1, 2});
  matrix.shape = {1, 2};
  EXPECT_FALSE(plot(matrix, 10, 2));
}

}  // namespace
}  // namespace kenaz::cli

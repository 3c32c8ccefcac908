#include "server/session/shapes.h"

#include <gtest/gtest.h>

namespace kenaz {
namespace {

constexpr LeafType kXs{PrimType::kI32, 2};       // of [][]i32
constexpr LeafType kRows{PrimType::kI64, 0, 0};  // of [][]()
constexpr LeafType kColumns{PrimType::kI64, 0, 1};

ValueType array(int rank, std::vector<LeafType> leaves) {
  return {"a", TypeKind::kArray, std::move(leaves), rank, "", {}, {}};
}

std::string text(const Result<std::vector<int64_t>>& shape) {
  if (!shape) return shape.error().message;
  std::string s;
  for (int64_t d : *shape) s += std::to_string(d) + " ";
  return s;
}

std::string shape_of(const ValueType& type, std::vector<LeafShape> leaves) {
  return text(outer_shape(type, leaves, "no"));
}

TEST(Shapes, OuterDimensionsOfData) {
  EXPECT_EQ(shape_of(array(2, {kXs}), {{{2, 3}}}), "2 3 ");
  EXPECT_EQ(shape_of(array(1, {kXs}), {{{2, 3}}}), "2 ");
  EXPECT_EQ(shape_of(array(1, {kXs, kXs}), {{{2, 3}}, {{2, 4}}}), "2 ");
  EXPECT_EQ(shape_of(array(2, {kXs, kXs}), {{{2, 3}}, {{2, 4}}}), "no: [2][3] and [2][4]");
}

TEST(Shapes, SizesStandForArraysWithoutData) {
  const auto mixed = array(1, {kRows, kColumns, kXs, kRows});
  EXPECT_EQ(shape_of(mixed, {{{}, 2}, {{}, 9}, {{2, 3}}, {{}, 2}}), "2 ");
  EXPECT_EQ(shape_of(mixed, {{{}, 2}, {{}, 9}, {{2, 3}}, {{}, 3}}), "no: [2] and [3]");
  EXPECT_EQ(shape_of(mixed, {{{}, 3}, {{}, 9}, {{2, 3}}, {{}, 2}}), "no: [3] and [2]");
  EXPECT_EQ(shape_of(array(2, {kRows, kColumns}), {{{}, 2}, {{}, 5}}), "2 5 ");
}

TEST(Shapes, SizesAreNotNegative) {
  const auto units = array(1, {kRows, kColumns});
  EXPECT_EQ(shape_of(units, {{{}, -1}, {{}, 0}}), "an array cannot have size -1");
  EXPECT_EQ(shape_of(units, {{{}, 1}, {{}, -2}}), "an array cannot have size -2");
}

}  // namespace
}  // namespace kenaz

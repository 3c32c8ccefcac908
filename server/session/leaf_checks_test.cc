#include "server/session/leaf_checks.h"

#include <gtest/gtest.h>

#include <array>

namespace kenaz {
namespace {

using Counts = std::vector<int>;
constexpr LeafType kI8{PrimType::kI8, 0}, kI32{PrimType::kI32, 0};

ValueType primitive(const std::string& name, PrimType prim) {
  return {name, TypeKind::kPrimitive, {{prim, 0}}, 0, "", {}, {}};
}

/// #a | #b | #c, and what is made of it.
TypeTable types() {
  TypeTable t;
  t["i8"] = primitive("i8", PrimType::kI8);
  t["i32"] = primitive("i32", PrimType::kI32);
  t["abc"] = {
      "abc", TypeKind::kSum, {kI8}, 0, "", {}, {{"a", {}, {}}, {"b", {}, {}}, {"c", {}, {}}}};
  t["one"] = {"one", TypeKind::kSum, {kI32}, 0, "", {}, {{"one", {"i32"}, {{0}}}}};
  t["pair"] = {"pair", TypeKind::kRecord, {kI8, kI8}, 0, "", {{"0", "i8"}, {"1", "abc"}}, {}};
  t["nest"] = {"nest",
               TypeKind::kSum,
               {kI8, kI8, kI8},
               0,
               "",
               {},
               {{"x", {"abc"}, {{1}}}, {"y", {"pair"}, {{2, 1}}}}};
  t["mixed"] = {"mixed",
                TypeKind::kSum,
                {kI8, kI8},
                0,
                "",
                {},
                {{"x", {"abc"}, {{1}}}, {"y", {"i8"}, {{1}}}}};
  t["[]abc"] = {"[]abc", TypeKind::kArray, {{PrimType::kI8, 1}}, 1, "abc", {}, {}};
  t["[]i8"] = {"[]i8", TypeKind::kArray, {{PrimType::kI8, 1}}, 1, "i8", {}, {}};
  t["[]pair"] = {"[]pair", TypeKind::kArray, {{PrimType::kI8, 1}, {PrimType::kI8, 1}},
                 1,        "pair",           {{"0", "[]i8"}, {"1", "[]abc"}},
                 {}};
  return t;
}

Counts counts(const std::string& type) { return constructor_counts(types(), types().at(type)); }

TEST(ConstructorCounts, FollowTheType) {
  EXPECT_EQ(counts("i8"), (Counts{0}));
  EXPECT_EQ(counts("abc"), (Counts{3}));
  EXPECT_EQ(counts("one"), (Counts{0}));
  EXPECT_EQ(counts("pair"), (Counts{0, 3}));
  EXPECT_EQ(counts("[]abc"), (Counts{3}));
  EXPECT_EQ(counts("[]pair"), (Counts{0, 3}));
  EXPECT_EQ(counts("nest"), (Counts{2, 3, 0}));
  EXPECT_EQ(counts("mixed"), (Counts{2, 0}));
}

TEST(WrongElement, TellsNumbersThatTheTypeLacks) {
  const std::array<std::byte, 3> bytes{std::byte{0}, std::byte{2}, std::byte{1}};
  EXPECT_FALSE(wrong_element(PrimType::kI8, 0, bytes, "x"));
  EXPECT_FALSE(wrong_element(PrimType::kI8, 3, bytes, "x"));
  EXPECT_EQ(wrong_element(PrimType::kI8, 2, bytes, "x"),
            "constructor number in x is 2, but the type has 2 constructors");
  EXPECT_EQ(wrong_element(PrimType::kBool, 0, bytes, "x"),
            "bool in x is 2, which is neither 0 nor 1");
  const std::array<std::byte, 1> negative{std::byte{255}};
  EXPECT_EQ(wrong_element(PrimType::kI8, 2, negative, "x"),
            "constructor number in x is -1, but the type has 2 constructors");
}

}  // namespace
}  // namespace kenaz

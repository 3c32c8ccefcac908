#include "server/variables/types.h"

#include <gtest/gtest.h>

namespace kenaz {
namespace {

const LeafType kInt{PrimType::kI32, 0}, kFloat{PrimType::kF32, 0}, kTag{PrimType::kI8, 0};

/// A point of two numbers, a line of two points, a sum of either, and what nobody knows.
ProgramTypes types_of(const std::string& program, LeafType number = kInt) {
  const std::string prim(prim_name(number.prim));
  ProgramTypes t{program, {}};
  t.table[prim] = {prim, TypeKind::kPrimitive, {number}, 0, "", {}, {}};
  t.table["point"] = {
      "point", TypeKind::kRecord, {number, number}, 0, "", {{"x", prim}, {"y", prim}}, {}};
  t.table["line"] = {"line",
                     TypeKind::kRecord,
                     {number, number, number, number},
                     0,
                     "",
                     {{"a", "point"}, {"b", "point"}},
                     {}};
  t.table["shape"] = {"shape",
                      TypeKind::kSum,
                      {kTag, number, number, number, number},
                      0,
                      "",
                      {},
                      {{"one", {"point"}, {{1, 2}}}, {"two", {"line"}, {{1, 2, 3, 4}}}}};
  t.table["secret"] = {"secret", TypeKind::kOpaque, {number}, 0, "", {}, {}};
  return t;
}

TEST(ProgramTypes, AgreeIfTheyConsistOfTheSame) {
  const ProgramTypes a = types_of("a"), b = types_of("b");
  for (const char* name : {"i32", "point", "line", "shape"}) EXPECT_TRUE(types_agree(name, a, b));
  EXPECT_FALSE(types_agree("f32", a, b));
  EXPECT_FALSE(types_agree("nosuch", a, b));
}

TEST(ProgramTypes, DoNotAgreeIfTheyConsistOfOthers) {
  const ProgramTypes a = types_of("a"), b = types_of("b", kFloat);
  for (const char* name : {"i32", "point", "line", "shape"}) EXPECT_FALSE(types_agree(name, a, b));
  ProgramTypes c = types_of("c");
  std::swap(c.table["point"].fields[0], c.table["point"].fields[1]);
  for (const char* name : {"point", "line", "shape"}) EXPECT_FALSE(types_agree(name, a, c)) << name;
  ProgramTypes d = types_of("d");
  std::swap(d.table["shape"].variants[0].name, d.table["shape"].variants[1].name);
  EXPECT_FALSE(types_agree("shape", a, d));
  EXPECT_TRUE(types_agree("line", a, d));
}

TEST(ProgramTypes, OpaqueOnesAgreeWithinOneProgram) {
  const ProgramTypes a = types_of("a"), b = types_of("b"), later = types_of("a"),
                     other = types_of("a", kFloat);
  EXPECT_TRUE(types_agree("secret", a, later));
  EXPECT_FALSE(types_agree("secret", a, b));
  EXPECT_FALSE(types_agree("secret", a, other));
  EXPECT_TRUE(same_types(a, later));
  EXPECT_FALSE(same_types(a, b));
  EXPECT_FALSE(same_types(a, other));
}

}  // namespace
}  // namespace kenaz

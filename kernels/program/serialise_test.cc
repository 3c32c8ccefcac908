#include "kernels/program/serialise.h"

#include <gtest/gtest.h>

namespace kenaz::program {
namespace {

Operand n(int64_t v) { return PrimValue::i64(v); }

Program sample() {
  Program p;
  p.name = "sample";
  p.target = {8,    true, true, 512,  1 << 15, 1 << 20, 1 << 21, true,  true, true,
              true, true, true, true, true,    true,    true,    60000, true};
  p.types["[]i32"] = {"[]i32", TypeKind::kArray, {{PrimType::kI32, 1}}, 1, "i32"};
  p.types["s"] = {"s", TypeKind::kSum, {}, 0, "", {{"f", "i32"}}, {{"A", {"i32"}, {{0, 1}, {}}}}};
  p.kernels.push_back({"k", "void main() {}", {1, 2, 3}, "kernel", {"-> #0  a.fut:1:1-2"}, 256, 4});
  p.kernels.push_back({"l",
                       "",
                       {},
                       "",
                       {},
                       256,
                       4,
                       0,
                       true,
                       Kernel::kEnd,
                       1 << 20,
                       "-> #0  a.fut:2:1-2",
                       KernelId{0},
                       false,
                       true,
                       {{0.5, {kPerThread, 3}}, {2, {}}}});
  p.kernel_failures.push_back({{std::string("at "), 0}, {PrimType::kI64}, "-> #0  a.fut:1:1-2"});
  Entry e;
  e.name = "main";
  e.params = {{"xs", "[]i32", true, {ArrayLeaf{PrimType::kI32, {0}, {ScalarReg{0}}}}}};
  e.result_type = "[]i32";
  e.result = {ScalarLeaf{PrimType::kBool, ScalarReg{3}}};
  e.attrs = {"noinline"};
  e.doc = " What it does,\n and why.";
  e.scalar_regs = 4;
  OpWhile loop{{{OpMove{{1}, n(5)}}}, ScalarReg{1}, {{OpRelease{{2}}}}};
  OpIf branch{ScalarReg{2},
              {{std::move(loop)}},
              {{OpMoveBlock{{1}, {2}}}, {OpPart{{1}, {2}, n(16), ScalarReg{0}}}}};
  e.code = {{OpScalar{{0}, ScalarOp::kAdd, PrimType::kI64, PrimType::kI64, {n(1), ScalarReg{1}}}},
            {OpAlloc{{0}, n(-7)}},
            {OpLaunch{{0}, n(9), {{Arg::kBlock, Arg::kWrite, n(0), {1}}}}},
            {OpRead{{0}, PrimType::kF16, {1}, n(2)}},
            {OpWrite{PrimType::kU8, {1}, n(3), {n(4), ScalarReg{2}}}},
            {std::move(branch)},
            {OpTune{{1}, 0}},
            {OpCompare{{1}, 0, n(5)}},
            {OpCall{0, {n(6)}, {{1}}, {{2}}, {{0}}, "too deep", "-> #0  c.fut:1:1-2"}},
            {OpAssert{ScalarReg{1}, {std::string("size "), n(3)}, "-> #0  b.fut:1:1-2"}}};
  p.entries["main"] = std::move(e);
  p.constants = {{OpMove{{0}, n(1)}}};
  p.constant_scalar_regs = 1;
  p.entries["main"].tuning = {0};
  p.functions = {{"f", {{1}}, {{1}}, {n(8), ScalarReg{1}}, {{1}}, {{OpRelease{{0}}}}, 2, 2}};
  p.tuning = {{"t", TuningClass::kThreshold, 7}};
  return p;
}

TEST(Serialise, RoundTrips) {
  const auto bytes = serialise(sample());
  auto back = deserialise(bytes);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(serialise(*back), bytes);  // every field is written, so equal bytes mean equal programs
  EXPECT_EQ(back->kernels[0].spirv, (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(back->kernels[1].code_of, KernelId{0});
  EXPECT_FALSE(back->kernels[0].code_of.valid());
  EXPECT_EQ(back->kernels[1].turns, sample().kernels[1].turns);
  EXPECT_EQ(back->kernels[0].places, sample().kernels[0].places);
  EXPECT_EQ(back->entries.at("main").code.size(), 10u);
  EXPECT_EQ(back->target, sample().target);
}

TEST(Serialise, DamageIsFoundOrHarmless) {
  const auto bytes = serialise(sample());
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(deserialise(std::span(bytes).first(n))) << n;
  }
  int found = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip : {1, 0x40, 0xff}) {
      auto damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(flip);
      const auto back = deserialise(damaged);
      if (!back) {
        found++;
        continue;
      }
      // What is read all the same is a program: it says in bytes exactly what was there.
      EXPECT_EQ(serialise(*back), damaged) << "byte " << i;
    }
  }
  EXPECT_GT(found, 0);
}

TEST(Serialise, DeepNestingIsRefused) {
  Program p;
  for (int i = 0; i < 2000; ++i) {
    OpIf nest{n(1), std::move(p.constants), {}};
    p.constants = {};
    p.constants.push_back({std::move(nest)});
  }
  EXPECT_FALSE(deserialise(serialise(p)));
}

}  // namespace
}  // namespace kenaz::program

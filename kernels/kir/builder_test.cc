#include "kernels/kir/builder.h"

#include <gtest/gtest.h>

namespace kenaz::kir {
namespace {

TEST(KirBuilder, FoldsConstantsAndIdentities) {
  Kernel kernel;
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI64);
  EXPECT_EQ(k.add(n, 0), n);
  EXPECT_EQ(k.mul(n, 1), n);
  EXPECT_TRUE(k.mul(n, 0).is_int(0));
  EXPECT_TRUE(k.add(i64(2), 3).is_int(5));
  EXPECT_EQ(k.and_(boolean(true), k.lt(n, 4)).type.prim, PrimType::kBool);
  EXPECT_TRUE(k.and_(boolean(false), k.lt(n, 5)).is_bool(false));
  EXPECT_EQ(kernel.main.insts.size(), 2U);  // the two comparisons
}

TEST(KirBuilder, AFloatPlusZeroStays) {
  Kernel kernel;
  Builder k(kernel);
  const Value x = k.arg("x", PrimType::kF32);
  EXPECT_NE(k.add(x, Value(PrimValue::f32(0))), x);
}

TEST(KirBuilder, ABuiltinIsReadOncePerBlockAndKeptInTheBlocksInside) {
  Kernel kernel;
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI32);
  k.if_(k.lt(n, 3), [&] {
    const Value a = k.lane();
    k.for_(n, [&](Value) { EXPECT_EQ(k.lane(), a); });
    EXPECT_EQ(k.lane(), a);
  });
  const Value outside = k.lane();
  EXPECT_EQ(std::get<IBuiltin>(kernel.main.insts.back().op).dst, outside.id());
}

TEST(KirBuilder, AnOperationIsNotRepeatedWhereItsValueIsVisible) {
  Kernel kernel;
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI64);
  Value inside;
  const Value outside = k.add(n, 3);
  k.if_(k.lt(n, 3), [&] {
    EXPECT_EQ(k.add(n, 3), outside);
    EXPECT_NE(k.add(n, 4), outside);
    inside = k.mul(n, 5);
  });
  EXPECT_NE(k.mul(n, 5), inside);
  EXPECT_NE(k.convert(n, PrimType::kI32), k.convert(n, PrimType::kI16));
}

TEST(KirBuilder, ARemainderFollowsFromItsQuotient) {
  Kernel kernel;
  Builder k(kernel);
  const Value a = k.arg("a", PrimType::kI64), b = k.arg("b", PrimType::kI64);
  k.quot(a, b);
  const auto count = [&](ScalarOp op) {
    size_t n = 0;
    for (const Inst& i : kernel.main.insts) {
      const auto* prim = std::get_if<IPrim>(&i.op);
      n += prim != nullptr && prim->op == op ? 1 : 0;
    }
    return n;
  };
  k.rem(a, b);
  EXPECT_EQ(count(ScalarOp::kRem), 0U);
  EXPECT_EQ(count(ScalarOp::kSelect), 1U);  // if b is 0, it is 0
  k.rem(b, a);
  k.prim(ScalarOp::kMod, {a, b});  // of floor division
  EXPECT_EQ(count(ScalarOp::kRem), 1U);
  EXPECT_EQ(count(ScalarOp::kMod), 1U);
}

TEST(KirBuilder, ADifferenceAndWhatWasTakenAwayAreTheWhole) {
  Kernel kernel;
  Builder k(kernel);
  const Value a = k.arg("a", PrimType::kI64), b = k.arg("b", PrimType::kI64);
  EXPECT_EQ(k.add(k.sub(a, b), b), a);
  EXPECT_EQ(k.add(b, k.sub(a, b)), a);
  EXPECT_NE(k.add(a, k.sub(a, b)), a);
  const Value x = k.arg("x", PrimType::kF32), y = k.arg("y", PrimType::kF32);
  EXPECT_NE(k.add(k.sub(x, y), y), x);
}

TEST(KirBuilder, ThePlaceOfAnElementIsThatOfItsThread) {
  Kernel kernel;
  Builder k(kernel);
  const Value at = k.arg("at", PrimType::kI64), width = k.arg("width", PrimType::kI64);
  // Of an array of dims [..][width][4], as indices are taken apart and put together again.
  const Value row = k.quot(at, width), column = k.sub(at, k.mul(row, width));
  const Value place = k.add(k.mul(row, k.mul(width, 4)), k.mul(column, 4));
  EXPECT_EQ(place, k.mul(at, 4));
  EXPECT_NE(k.add(k.mul(row, k.mul(width, 4)), k.mul(column, 3)), k.mul(at, 4));
  EXPECT_NE(k.add(k.mul(row, 4), k.mul(column, 4)), k.mul(at, 4));
  EXPECT_EQ(k.mul(k.mul(at, 3), 4), k.mul(k.mul(at, 3), 4));
  // Not if it takes more than there is: row * (at * 3) stays.
  const size_t before = kernel.main.insts.size();
  k.mul(row, k.mul(at, 3));
  EXPECT_EQ(kernel.main.insts.size(), before + 1);
}

TEST(KirBuilder, ABlockIsBuiltBeforeItsInstruction) {
  Kernel kernel;
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI64);
  IIf inst;
  inst.cond = k.lt(n, 3);
  Value inside;
  k.into(inst.then_block, [&] { inside = k.mul(n, 5); });
  const Var var = k.declare(Type{PrimType::kI64});
  k.into(inst.then_block, [&] { k.assign(var, inside); });
  k.emit(std::move(inst));
  ASSERT_EQ(kernel.main.insts.size(), 3U);
  EXPECT_EQ(std::get<IIf>(kernel.main.insts[2].op).then_block.insts.size(), 2U);
}

TEST(KirBuilder, BranchesGiveValuesThroughVariables) {
  Kernel kernel;
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI32);
  const Values r = k.if_values(
      k.lt(n, 3),
      [&] {
        return Values{i32(1), n};
      },
      [&] {
        return Values{i32(2), i32(3)};
      });
  ASSERT_EQ(r.size(), 2U);
  ASSERT_EQ(kernel.main.insts.size(), 6U);  // lt, two declarations, if, two reads
  EXPECT_TRUE(std::holds_alternative<IIf>(kernel.main.insts[3].op));
}

TEST(KirBuilder, AFunctionSeesNothingOfItsCaller) {
  Kernel kernel;
  Builder k(kernel);
  const Value lane = k.lane();
  const FunctionId f = k.function("f", {{PrimType::kI32}}, [&](const Values& p) {
    EXPECT_NE(k.lane(), lane);
    return Values{k.add(p[0], k.lane())};
  });
  const Values r = k.call(f, {lane});
  ASSERT_EQ(r.size(), 1U);
  EXPECT_EQ(r[0].type.prim, PrimType::kI32);
}

}  // namespace
}  // namespace kenaz::kir

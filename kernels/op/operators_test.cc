#include "kernels/op/operators.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kenaz::op {
namespace {

constexpr PrimType kTypes[] = {
#define PRIM(e, name, bytes, kind) PrimType::e,
#include "protocol/prim_type.def"
#undef PRIM
};

struct Given {
  ir::Program program;
  ir::Lambda lambda;
};

// \a b -> op x y, where x and y are numbers of parameters
Given operator_of(ScalarOp op, PrimType type, int x, int y) {
  Given g;
  const ir::VarId a = g.program.new_var({type, {}}, "a"), b = g.program.new_var({type, {}}, "b");
  const ir::VarId r = g.program.new_var({type, {}}, "r");
  g.lambda.params = {a, b};
  const auto param = [&](int n) { return n == 0 ? a : b; };
  ir::Stm s;
  s.pat = {r};
  s.exp = ir::EPrim{op, type, type, {param(x), param(y)}};
  g.lambda.body.stms.push_back(std::move(s));
  g.lambda.body.results = {r};
  return g;
}

TEST(Operators, EveryRowsNeutralElementIsNeutralAtEveryTypeThatItAccepts) {
  int rows = 0;
  for (int o = 0; o <= static_cast<int>(ScalarOp::kSelect); o++) {
    const auto scalar = static_cast<ScalarOp>(o);
    for (const PrimType t : kTypes) {
      const Known* row = known(scalar, t);
      if (row == nullptr) continue;
      rows++;
      ASSERT_TRUE(scalar_op_accepts(scalar, t));
      const PrimValue e = neutral_of(*row, t);
      for (const uint64_t bits : {0, 1, 0x25}) {
        const PrimValue x = t == PrimType::kBool ? PrimValue::of_bool(bits & 1)
                            : is_float(t)        ? PrimValue::of_float(t, double(bits) - 3)
                                                 : PrimValue::of_int(t, int64_t(bits) - 3);
        EXPECT_EQ(eval_scalar(scalar, t, t, std::vector{e, x}), x) << scalar_op_name(scalar);
        EXPECT_EQ(eval_scalar(scalar, t, t, std::vector{x, e}), x) << scalar_op_name(scalar);
      }
    }
  }
  EXPECT_EQ(rows, 7 * 8 + 4 * 3 + 3);
}

TEST(Operators, AnOperatorIsRecognisedInEitherOrderOfItsParameters) {
  EXPECT_EQ(recognise(operator_of(ScalarOp::kAdd, PrimType::kI32, 0, 1).lambda),
            known(ScalarOp::kAdd, PrimType::kI32));
  EXPECT_EQ(recognise(operator_of(ScalarOp::kMax, PrimType::kF32, 1, 0).lambda),
            known(ScalarOp::kMax, PrimType::kF32));
}

TEST(Operators, WhatIsNotOneOperationOfBothParametersIsNotRecognised) {
  EXPECT_EQ(recognise(operator_of(ScalarOp::kAdd, PrimType::kI32, 0, 0).lambda), nullptr);
  EXPECT_EQ(recognise(operator_of(ScalarOp::kSub, PrimType::kI32, 0, 1).lambda), nullptr);
  Given g = operator_of(ScalarOp::kAdd, PrimType::kI32, 0, 1);
  g.lambda.body.results = {g.lambda.params[0]};
  EXPECT_EQ(recognise(g.lambda), nullptr);
}

TEST(Operators, WhatATargetLacksIsNotUsed) {
  program::Target plain;
  const Known& add = *known(ScalarOp::kAdd, PrimType::kI32);
  EXPECT_FALSE(has_subgroup_op(add, PrimType::kI32, plain));
  EXPECT_TRUE(has_atomic(add, PrimType::kI32, plain, true));
  EXPECT_FALSE(has_atomic(add, PrimType::kI64, plain, false));
  EXPECT_FALSE(has_atomic(add, PrimType::kU8, plain, false));
  program::Target rich = plain;
  rich.subgroup_size = 32;
  rich.subgroup_arithmetic = rich.i64_atomics = true;
  EXPECT_TRUE(has_subgroup_op(add, PrimType::kU8, rich));
  EXPECT_TRUE(has_atomic(add, PrimType::kI64, rich, false));
  EXPECT_FALSE(has_atomic(add, PrimType::kI64, rich, true));
}

TEST(Operators, SumsOfFloatsAreAtomicWhereTheTargetSaysSo) {
  const Known& add = *known(ScalarOp::kAdd, PrimType::kF32);
  const Known& most = *known(ScalarOp::kMax, PrimType::kF32);
  bool program::Target::*const facts[] = {
      &program::Target::f32_atomic_add, &program::Target::f64_atomic_add,
      &program::Target::shared_f32_atomic_add, &program::Target::shared_f64_atomic_add};
  for (int n = 0; n < 4; n++) {
    program::Target target;
    target.*facts[n] = true;
    EXPECT_EQ(has_atomic(add, PrimType::kF32, target, false), n == 0);
    EXPECT_EQ(has_atomic(add, PrimType::kF64, target, false), n == 1);
    EXPECT_EQ(has_atomic(add, PrimType::kF32, target, true), n == 2);
    EXPECT_EQ(has_atomic(add, PrimType::kF64, target, true), n == 3);
    for (const bool shared : {false, true}) {
      EXPECT_FALSE(has_atomic(add, PrimType::kF16, target, shared));
      EXPECT_FALSE(has_atomic(most, PrimType::kF32, target, shared));
      EXPECT_FALSE(has_atomic(most, PrimType::kF64, target, shared));
    }
  }
}

}  // namespace
}  // namespace kenaz::op

#include "kernels/scalar/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kenaz {
namespace {

using P = PrimType;
using O = ScalarOp;

PrimValue ev(O op, P t, std::vector<PrimValue> args, P to = P::kI32) {
  return eval_scalar(op, t, to, args);
}
int64_t ints(O op, P t, int64_t a, int64_t b) {
  return ev(op, t, {PrimValue::of_int(t, a), PrimValue::of_int(t, b)}).as_i64();
}
double floats(O op, P t, double a, double b) {
  return ev(op, t, {PrimValue::of_float(t, a), PrimValue::of_float(t, b)}).as_double();
}
int64_t conv(PrimValue v, P to) { return ev(O::kConvert, v.type, {v}, to).as_i64(); }

TEST(Ops, SignedDivisionFloorsAndTruncates) {
  EXPECT_EQ(ints(O::kDiv, P::kI32, -7, 2), -4);
  EXPECT_EQ(ints(O::kMod, P::kI32, -7, 2), 1);
  EXPECT_EQ(ints(O::kMod, P::kI32, 7, -2), -1);
  EXPECT_EQ(ints(O::kQuot, P::kI32, -7, 2), -3);
  EXPECT_EQ(ints(O::kRem, P::kI32, -7, 2), -1);
  EXPECT_EQ(ints(O::kDiv, P::kI32, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(ints(O::kRem, P::kI64, INT64_MIN, -1), 0);
  EXPECT_EQ(ints(O::kQuot, P::kI64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(ints(O::kDiv, P::kU8, 250, 7), 35);
  for (O op : {O::kDiv, O::kMod, O::kQuot, O::kRem}) EXPECT_EQ(ints(op, P::kI16, 5, 0), 0);
}

TEST(Ops, IntegersWrap) {
  EXPECT_EQ(ints(O::kAdd, P::kI8, 127, 1), -128);
  EXPECT_EQ(ints(O::kMul, P::kU16, 65535, 65535), 1);
  EXPECT_EQ(ints(O::kSub, P::kU32, 0, 1), 4294967295);
  EXPECT_EQ(ints(O::kPow, P::kI32, 3, 4), 81);
  EXPECT_EQ(ints(O::kPow, P::kI32, 3, -1), 0);
  EXPECT_EQ(ints(O::kShr, P::kI8, -128, 3), -16);
  EXPECT_EQ(ints(O::kLShr, P::kI8, -128, 3), 16);
  EXPECT_EQ(ints(O::kShl, P::kI8, 1, 8), 1);
  EXPECT_EQ(ints(O::kMulHi, P::kI32, 1 << 30, 8), 2);
  EXPECT_EQ(ints(O::kMulHi, P::kI64, -1, 1), -1);
  EXPECT_EQ(ev(O::kAbs, P::kI8, {PrimValue::of_int(P::kI8, -128)}).as_i64(), -128);
  EXPECT_EQ(ev(O::kClz, P::kU8, {PrimValue::of_int(P::kU8, 1)}), PrimValue::i32(7));
  EXPECT_EQ(ev(O::kCtz, P::kI16, {PrimValue::of_int(P::kI16, 0)}), PrimValue::i32(16));
}

TEST(Ops, ComparisonFollowsSignedness) {
  EXPECT_EQ(ints(O::kLt, P::kI8, -1, 1), 1);
  EXPECT_EQ(ints(O::kLt, P::kU8, 255, 1), 0);
  EXPECT_EQ(ints(O::kMax, P::kU8, 255, 1), 255);
  const double nan = std::nan("");
  EXPECT_EQ(ev(O::kEq, P::kF32, {PrimValue::f32(NAN), PrimValue::f32(NAN)}).as_bool(), false);
  EXPECT_EQ(ev(O::kNe, P::kF64, {PrimValue::f64(nan), PrimValue::f64(nan)}).as_bool(), true);
  EXPECT_EQ(ev(O::kEq, P::kF32, {PrimValue::f32(0.f), PrimValue::f32(-0.f)}).as_bool(), true);
}

TEST(Ops, FloatCorners) {
  EXPECT_EQ(floats(O::kMin, P::kF32, std::nan(""), 3), 3);
  EXPECT_EQ(floats(O::kMax, P::kF64, 3, std::nan("")), 3);
  EXPECT_EQ(floats(O::kMod, P::kF64, -5.5, 2), -1.5);
  EXPECT_EQ(ev(O::kRound, P::kF64, {PrimValue::f64(2.5)}).as_double(), 2);
  EXPECT_EQ(ev(O::kSinPi, P::kF64, {PrimValue::f64(1e10)}).as_double(), 0);
  EXPECT_EQ(ev(O::kCosPi, P::kF32, {PrimValue::f32(0.5f)}).as_double(), 0);
  EXPECT_TRUE(std::isnan(ev(O::kSgn, P::kF32, {PrimValue::f32(NAN)}).as_double()));
  EXPECT_EQ(floats(O::kAdd, P::kF16, 2048, 1), 2048);  // rounds to even
}

TEST(Ops, Conversions) {
  EXPECT_EQ(conv(PrimValue::f32(1e20f), P::kI32), INT32_MAX);
  EXPECT_EQ(conv(PrimValue::f64(-1e20), P::kI32), INT32_MIN);
  EXPECT_EQ(conv(PrimValue::of_int(P::kI8, -1), P::kU16), 255);
  EXPECT_EQ(conv(PrimValue::of_int(P::kI8, -1), P::kI16), -1);
  EXPECT_EQ(conv(PrimValue::of_int(P::kU8, 255), P::kI16), 255);
  EXPECT_EQ(conv(PrimValue::i32(-1), P::kU64), 4294967295);
  EXPECT_EQ(conv(PrimValue::f64(-1.9), P::kI32), -1);
  EXPECT_EQ(conv(PrimValue::f32(-1.f), P::kU8), 255);
  EXPECT_EQ(conv(PrimValue::f64(std::nan("")), P::kI64), 0);
  EXPECT_EQ(conv(PrimValue::f64(INFINITY), P::kI64), 0);
  EXPECT_EQ(conv(PrimValue::f64(1e300), P::kI64), INT64_MAX);
  EXPECT_EQ(conv(PrimValue::f64(0.5), P::kBool), 1);
  // one rounding only: through double this would be 2^60
  const PrimValue v = PrimValue::i64((int64_t{1} << 60) + (int64_t{1} << 36) + 1);
  EXPECT_EQ(ev(O::kConvert, P::kI64, {v}, P::kF32).as_double(),
            std::ldexp(1.0 + std::ldexp(1, -23), 60));
  EXPECT_EQ(ev(O::kBitcast, P::kF32, {PrimValue::f32(1.f)}, P::kI32).as_i64(), 0x3f800000);
}

TEST(Ops, SizesDoNotWrap) {
  constexpr int64_t kMost = int64_t{1} << 62;
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, 6, 7), 42);
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, int64_t{1} << 32, int64_t{1} << 32), kMost);  // wraps to 0
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, kMost + 16, 4), kMost);                       // to 64
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, int64_t{1} << 61, 4), kMost);                 // to INT64_MIN
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, kMost, 1), kMost);
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, kMost - 1, 1), kMost - 1);
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, INT64_MAX, 0), 0);
  EXPECT_EQ(ints(O::kSizeMul, P::kI64, -5, -5), 0);
  EXPECT_EQ(ints(O::kSizeAdd, P::kI64, 3, 4), 7);
  EXPECT_EQ(ints(O::kSizeAdd, P::kI64, -3, 4), 4);
  EXPECT_EQ(ints(O::kSizeAdd, P::kI64, kMost - 1, 1), kMost);
  EXPECT_EQ(ints(O::kSizeAdd, P::kI64, INT64_MAX, INT64_MAX), kMost);
  EXPECT_FALSE(scalar_op_accepts(O::kSizeMul, P::kI32));
}

// Total: every operation at every type it accepts survives every mix of awkward operands.
TEST(Ops, NeverTraps) {
  for (int o = 0; o <= static_cast<int>(O::kSelect); ++o) {
    const O op = static_cast<O>(o);
    EXPECT_EQ(scalar_op_from_name(scalar_op_name(op)), op);
    for (int t = 0; t < kPrimTypeCount; ++t) {
      const P type = static_cast<P>(t);
      if (!scalar_op_accepts(op, type)) continue;
      const uint64_t mask =
          prim_bits(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << prim_bits(type)) - 1;
      std::vector<PrimValue> vs;
      for (uint64_t b : {uint64_t{0}, uint64_t{1}, mask, mask >> 1, mask ^ (mask >> 1)}) {
        vs.push_back({type, b & mask});
      }
      for (auto& a : vs) {
        for (auto& b : vs) {
          for (auto& c : vs) {
            std::vector<PrimValue> args{a, b, c};
            args.resize(static_cast<size_t>(scalar_op_arity(op)));
            const PrimValue r = ev(op, type, args, P::kI16);
            EXPECT_EQ(r.bits & ~(~uint64_t{0} >> (64 - 8 * prim_size(r.type))), 0u);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kenaz

#include "kernels/kir/eval/defined.h"

#include <gtest/gtest.h>

namespace kenaz::kir::eval {
namespace {

struct Operand {
  uint64_t bits;
  uint8_t known;
};

uint8_t bytes(ScalarOp op, PrimType type, PrimType to, Operand a, Operand b = {0, kDefined}) {
  IPrim e{{}, op, type, to, {}};
  e.args.resize(static_cast<size_t>(scalar_op_arity(op)));
  const uint64_t bits[] = {a.bits, b.bits, 0};
  const uint8_t known[] = {a.known, b.known, kDefined};
  return defined_bytes(e, bits, known);
}

constexpr auto kU8 = PrimType::kU8, kI16 = PrimType::kI16, kU32 = PrimType::kU32,
               kI32 = PrimType::kI32, kU64 = PrimType::kU64, kI64 = PrimType::kI64;

TEST(KirDefined, ArithmeticNeedsAllOfItsOperands) {
  EXPECT_EQ(bytes(ScalarOp::kAdd, kI32, kI32, {1, kDefined}, {2, kDefined}), kDefined);
  EXPECT_NE(bytes(ScalarOp::kAdd, kI32, kI32, {1, 0xf7}, {2, kDefined}), kDefined);
  EXPECT_NE(bytes(ScalarOp::kNeg, kI32, kI32, {1, 0xfe}), kDefined);
}

TEST(KirDefined, AZeroDecidesAnAndOnlyWhereItIsDefined) {
  const Operand undefined{0xffffffff, 0xf0};
  EXPECT_EQ(bytes(ScalarOp::kAnd, kU32, kU32, undefined, {0, kDefined}), kDefined);
  EXPECT_EQ(bytes(ScalarOp::kAnd, kU32, kU32, undefined, {0x00ff00ff, kDefined}), 0xfa);
  EXPECT_NE(bytes(ScalarOp::kAnd, kU32, kU32, undefined, {0, 0xf0}), kDefined);
  EXPECT_EQ(bytes(ScalarOp::kOr, kU32, kU32, undefined, {0x00ff00ff, kDefined}), 0xf5);
  EXPECT_EQ(bytes(ScalarOp::kOr, PrimType::kBool, PrimType::kBool, {0, 0xfe}, {1, kDefined}),
            kDefined);
  EXPECT_NE(bytes(ScalarOp::kOr, PrimType::kBool, PrimType::kBool, {1, 0xfe}, {0, kDefined}),
            kDefined);
}

TEST(KirDefined, ShiftsMoveWholeBytes) {
  const Operand low{0, 0xf1};  // of an u32 only the lowest byte
  EXPECT_EQ(bytes(ScalarOp::kShl, kU32, kU32, low, {8, kDefined}), 0xf3);
  EXPECT_EQ(bytes(ScalarOp::kShl, kU32, kU32, low, {24, kDefined}), 0xff);
  EXPECT_EQ(bytes(ScalarOp::kLShr, kU32, kU32, low, {8, kDefined}), 0xf8);
  EXPECT_NE(bytes(ScalarOp::kLShr, kU32, kU32, low, {4, kDefined}) & 0x0f, 0x0f);
  EXPECT_NE(bytes(ScalarOp::kLShr, kU32, kU32, {0, kDefined}, {8, 0xfe}), kDefined);
  const Operand high{0, 0xf8};  // of an i32 only the highest
  EXPECT_EQ(bytes(ScalarOp::kShr, kI32, kI32, high, {24, kDefined}), kDefined);
  EXPECT_EQ(bytes(ScalarOp::kShr, kI32, kI32, {0, 0xf7}, {8, kDefined}), 0xf3);
  EXPECT_EQ(bytes(ScalarOp::kShr, kU32, kU32, {0, 0xf7}, {8, kDefined}), 0xfb);
  EXPECT_EQ(bytes(ScalarOp::kShl, kU64, kU64, {0, 0x0f}, {32, kDefined}), kDefined);
}

TEST(KirDefined, ConversionsKeepBytesAndExtendTheSign) {
  EXPECT_EQ(bytes(ScalarOp::kConvert, kU32, kU8, {0, 0xf1}), kDefined);
  EXPECT_NE(bytes(ScalarOp::kConvert, kU32, kU8, {0, 0xfe}), kDefined);
  EXPECT_EQ(bytes(ScalarOp::kConvert, kU8, kI64, {0, 0xfe}), 0xfe);
  EXPECT_EQ(bytes(ScalarOp::kConvert, kI16, kI32, {0, 0xfd}), 0xf1);
  EXPECT_EQ(bytes(ScalarOp::kConvert, kI16, kU32, {0, 0xfd}), 0xfd);
  EXPECT_EQ(bytes(ScalarOp::kConvert, kI16, kI64, {0, 0xfe}), 0xfe);
  EXPECT_NE(bytes(ScalarOp::kConvert, kI64, PrimType::kF32, {0, 0x7f}), kDefined);
  EXPECT_EQ(bytes(ScalarOp::kBitcast, kU32, PrimType::kF32, {0, 0xf7}), 0xf7);
}

}  // namespace
}  // namespace kenaz::kir::eval

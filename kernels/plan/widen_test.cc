#include "kernels/plan/widen.h"

#include <gtest/gtest.h>

namespace kenaz::plan {
namespace {

Operator known(ScalarOp op, PrimType type) { return known_operator(*op::known(op, type), type); }

TEST(Widen, OnlySumsAndProductsOfSmallIntegers) {
  EXPECT_TRUE(is_narrow_ring(known(ScalarOp::kAdd, PrimType::kI8).facts));
  EXPECT_TRUE(is_narrow_ring(known(ScalarOp::kAdd, PrimType::kU16).facts));
  EXPECT_TRUE(is_narrow_ring(known(ScalarOp::kMul, PrimType::kU8).facts));
  EXPECT_FALSE(is_narrow_ring(known(ScalarOp::kAdd, PrimType::kI32).facts));
  EXPECT_FALSE(is_narrow_ring(known(ScalarOp::kAdd, PrimType::kF16).facts));
  EXPECT_FALSE(is_narrow_ring(known(ScalarOp::kMax, PrimType::kI8).facts));
  const Operator two =
      join({known(ScalarOp::kAdd, PrimType::kI8), known(ScalarOp::kAdd, PrimType::kI8)});
  EXPECT_FALSE(is_narrow_ring(two.facts));
}

TEST(Widen, PartialResultsAreCutInTheEnd) {
  for (const PrimType type : {PrimType::kI8, PrimType::kU8}) {
    kir::Kernel kernel;
    Builder k(kernel);
    Problem p;
    p.op = known(ScalarOp::kAdd, type);
    const Value element = PrimValue::of_int(type, 200);
    p.elements.at = [&](Builder&, const Place&) { return Values{element}; };
    p.elements.many = [&](Builder&, const Place&, int n) {
      return std::vector<Values>(static_cast<size_t>(n), Values{element});
    };
    Values stored;
    p.sink.put = [&](Builder&, const Place&, const Values& x) { stored = x; };
    p.sink.put_many = [&](Builder&, const Place&, const std::vector<Values>& x) { stored = x[1]; };
    widen(k, p);
    EXPECT_EQ(p.op.facts.types, std::vector{PrimType::kI32});
    const Place place{kir::i64(0), kir::i64(0)};
    const Values two = p.op.combine(k, p.elements.at(k, place), p.elements.many(k, place, 2)[1]);
    EXPECT_EQ(two[0].type.prim, PrimType::kI32);
    p.sink.put(k, place, p.op.combine(k, p.op.neutral, two));
    EXPECT_EQ(stored[0].constant(), PrimValue::of_int(type, 400));
    p.sink.put_many(k, place, {p.op.neutral, two});
    EXPECT_EQ(stored[0].constant(), PrimValue::of_int(type, 400));
  }
}

}  // namespace
}  // namespace kenaz::plan

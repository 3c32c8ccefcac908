#include "kernels/scalar/lanes.h"

#include <gtest/gtest.h>

#include <vector>

namespace kenaz {
namespace {

constexpr size_t kLanes = 37;  // no multiple of what processors do at a time

/// Values of the type, the usual and the odd ones.
std::vector<uint64_t> values(PrimType type, uint64_t seed) {
  std::vector<uint64_t> out(kLanes);
  uint64_t state = seed;
  for (uint64_t& v : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = state >> (64 - 8 * prim_size(type));
    if (type == PrimType::kBool) v &= 1;
    if (state % 5 == 0) v = 0;
  }
  return out;
}

void expect_same(ScalarOp op, PrimType type, PrimType to) {
  const ScalarFn one = scalar_fn(op, type, to);
  const auto a = values(type, 1), b = values(type, 2), c = values(type, 3);
  std::vector<uint64_t> dst(kLanes), in_place = a;
  lane_fn(op, type, to)(dst.data(), a.data(), b.data(), c.data(), kLanes);
  lane_fn(op, type, to)(in_place.data(), in_place.data(), b.data(), c.data(), kLanes);
  for (size_t k = 0; k < kLanes; ++k) {
    const uint64_t expected = one(a[k], b[k], c[k]);
    EXPECT_EQ(dst[k], expected) << scalar_op_name(op) << " lane " << k;
    EXPECT_EQ(in_place[k], expected) << scalar_op_name(op) << " in place, lane " << k;
  }
}

TEST(Lanes, ManyAtATimeAreWhatEachIs) {
  for (int op = 0; op <= static_cast<int>(ScalarOp::kSelect); ++op) {
    for (int type = 0; type < kPrimTypeCount; ++type) {
      const auto o = static_cast<ScalarOp>(op);
      const auto t = static_cast<PrimType>(type);
      if (o == ScalarOp::kConvert || o == ScalarOp::kBitcast || !scalar_op_accepts(o, t)) continue;
      expect_same(o, t, t);
    }
  }
  for (int from = 0; from < kPrimTypeCount; ++from) {
    for (int to = 0; to < kPrimTypeCount; ++to) {
      expect_same(ScalarOp::kConvert, static_cast<PrimType>(from), static_cast<PrimType>(to));
    }
    expect_same(ScalarOp::kBitcast, static_cast<PrimType>(from), static_cast<PrimType>(from));
  }
}

}  // namespace
}  // namespace kenaz

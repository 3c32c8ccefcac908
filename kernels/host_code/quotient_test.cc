#include "kernels/host_code/quotient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kenaz::host_code {
namespace {

using kir::Value;

/// The builder folds constants, so it computes what the host and the kernel would.
class Quotient : public testing::Test {
 protected:
  Value reciprocal_of(int64_t divisor, int64_t most) {
    const OnHost<Value> op = [&](ScalarOp o, PrimType type, PrimType to, std::vector<Value> args) {
      return k.op(o, type, to, std::move(args));
    };
    return reciprocal<Value>(op, kir::i64(divisor), kir::i64(most));
  }
  void check(int64_t a, int64_t b, int64_t most) {
    const Value q = quotient(k, kir::i64(a), kir::i64(b), reciprocal_of(b, most));
    ASSERT_TRUE(q.is_int(a / b)) << a << " / " << b;
  }

  kir::Kernel kernel;
  kir::Builder k{kernel};
};

TEST_F(Quotient, OfNumbersOf31Bits) {
  std::mt19937_64 random(1);
  const int64_t most = INT32_MAX;
  for (int bits = 0; bits < 31; bits++) {
    for (int n = 0; n < 40; n++) {
      const int64_t power = int64_t{1} << bits;
      const int64_t b = n < 3
                            ? std::max<int64_t>(1, power + n - 1)
                            : power + static_cast<int64_t>(random() % static_cast<uint64_t>(power));
      // Around multiples of the divisor, where a wrong quotient would be seen.
      const int64_t multiple = b * (1 + static_cast<int64_t>(random()) % (most / b));
      for (const int64_t a : {int64_t{0}, b - 1, b, multiple - 1, multiple, most / b * b - 1,
                              most / b * b, most - 1, most}) {
        if (a >= 0 && a <= most) check(a, b, most);
      }
    }
  }
}

TEST_F(Quotient, OfLargerNumbers) {
  EXPECT_TRUE(reciprocal_of(7, int64_t{INT32_MAX} + 1).is_int(0));
  for (const int64_t a : {int64_t{1} << 31, (int64_t{1} << 32) + 5, (int64_t{1} << 45) - 1}) {
    for (const int64_t b : {int64_t{1}, int64_t{3}, int64_t{1} << 16, (int64_t{1} << 33) + 1}) {
      check(a, b, a);
    }
  }
}

// A launch without elements asks for it, too.
TEST_F(Quotient, ADivisorOfNothingIsNoFailure) { EXPECT_TRUE(reciprocal_of(0, 0).is_const()); }

}  // namespace
}  // namespace kenaz::host_code

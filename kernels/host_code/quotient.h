// Division by a number that the host knows, as a multiplication.
#pragma once

#include <functional>
#include <vector>

#include "kernels/kir/builder.h"

namespace kenaz::host_code {

/// Computes a scalar operation on the host: operation, type of the operands and, of a conversion,
/// of the result.
template <class S>
using OnHost = std::function<S(ScalarOp, PrimType, PrimType, std::vector<S>)>;

/// What `quotient` needs to know of a divisor (i64, not negative); i64. It is 0 if dividends up to
/// `most` (i64, at least the divisor) may have more than 31 bits.
///
/// With 2^(l-1) < d <= 2^l and m = 2^(31+l) / d + 1, x / d is x * m / 2^(31+l) for all x below
/// 2^31: m d is at most 2^l more than 2^(31+l), so what is too much is less than x / (d 2^31), less
/// than the 1 / d that x / d lacks of the next number. m has 32 bits, above them stands 31 + l.
template <class S>
S reciprocal(const OnHost<S>& op, const S& divisor, const S& most) {
  const PrimType t = PrimType::kI64;
  const auto number = [](int64_t n) { return S(PrimValue::i64(n)); };
  const auto i64 = [&](ScalarOp o, const S& a, const S& b) { return op(o, t, t, {a, b}); };
  const S zeros = op(ScalarOp::kClz, t, PrimType::kI32, {i64(ScalarOp::kSub, divisor, number(1))});
  const S shift =
      i64(ScalarOp::kSub, number(31 + 64), op(ScalarOp::kConvert, PrimType::kI32, t, {zeros}));
  const S power = i64(ScalarOp::kShl, number(1), shift);
  const S m = i64(ScalarOp::kAdd, i64(ScalarOp::kQuot, power, divisor), number(1));
  const S both = i64(ScalarOp::kOr, m, i64(ScalarOp::kShl, shift, number(32)));
  const S narrow = op(ScalarOp::kLe, t, PrimType::kBool, {most, number(INT32_MAX)});
  return op(ScalarOp::kSelect, t, t, {narrow, both, number(0)});
}

/// a / b of i64 that are not negative. `reciprocal`: of b, for dividends up to a.
kir::Value quotient(kir::Builder& k, const kir::Value& a, const kir::Value& b,
                    const kir::Value& reciprocal);

}  // namespace kenaz::host_code

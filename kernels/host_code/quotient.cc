#include "kernels/host_code/quotient.h"

namespace kenaz::host_code {

using kir::Value;
using kir::Values;

Value quotient(kir::Builder& k, const Value& a, const Value& b, const Value& reciprocal) {
  const auto narrow = [&] {
    // Conversions that say that 32 bits are multiplied.
    const auto low = [&](const Value& x) {
      return k.convert(k.convert(x, PrimType::kU32), PrimType::kU64);
    };
    const Value shift = k.convert(k.lshr(reciprocal, kir::i64(32)), PrimType::kU64);
    return Values{k.to_i64(k.lshr(k.mul(low(a), low(reciprocal)), shift))};
  };
  // Of 64 bits, NVIDIA's compiler (driver 580) gets chains of divisions wrong: of 25 bytes that
  // were to be copied, 5 were.
  return k.if_values(k.ne(reciprocal, kir::i64(0)), narrow,
                     [&] { return Values{k.quot(a, b)}; })[0];
}

}  // namespace kenaz::host_code

// What scalar operations do to the bits of PrimValues, as templates: for tables of functions, by
// operation and types, of one value (ops.cc) and of many (lanes.cc).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "kernels/scalar/ops.h"
#include "kernels/scalar/size.h"

namespace kenaz::scalar {

enum class Domain : uint8_t { kInt, kFloat, kNum, kBool, kIntBool, kAny, kSize };
enum class ResultKind : uint8_t { kSame, kBool, kI32, kTo };

struct OpInfo {
  std::string_view name;
  int arity;
  Domain domain;
  ResultKind result;
};

inline constexpr OpInfo kOps[] = {
#define SCALAR_OP(e, name, arity, domain, result) {name, arity, Domain::domain, ResultKind::result},
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
};

constexpr bool is_float_type(PrimType t) {
  return t == PrimType::kF16 || t == PrimType::kF32 || t == PrimType::kF64;
}

constexpr bool in_domain(Domain d, PrimType t) {
  const bool f = is_float_type(t), b = t == PrimType::kBool;
  switch (d) {
    case Domain::kInt: return !f && !b;
    case Domain::kFloat: return f;
    case Domain::kNum: return !b;
    case Domain::kBool: return b;
    case Domain::kIntBool: return !f;
    case Domain::kAny: return true;
    case Domain::kSize: return t == PrimType::kI64;
  }
  return false;
}

// ---- how each primitive type is held while computing. f16 computes in float.

template <PrimType P>
struct Rep;
template <class T_>
struct IntRep {
  using T = T_;
  using U = std::make_unsigned_t<T>;
  static T get(uint64_t b) { return static_cast<T>(static_cast<U>(b)); }
  static uint64_t put(T v) { return static_cast<U>(v); }
};
template <>
struct Rep<PrimType::kI8> : IntRep<int8_t> {};
template <>
struct Rep<PrimType::kI16> : IntRep<int16_t> {};
template <>
struct Rep<PrimType::kI32> : IntRep<int32_t> {};
template <>
struct Rep<PrimType::kI64> : IntRep<int64_t> {};
template <>
struct Rep<PrimType::kU8> : IntRep<uint8_t> {};
template <>
struct Rep<PrimType::kU16> : IntRep<uint16_t> {};
template <>
struct Rep<PrimType::kU32> : IntRep<uint32_t> {};
template <>
struct Rep<PrimType::kU64> : IntRep<uint64_t> {};
template <>
struct Rep<PrimType::kF16> {
  using T = float;
  static T get(uint64_t b) { return half_to_float(static_cast<uint16_t>(b)); }
  static uint64_t put(T v) { return float_to_half(v); }
};
template <>
struct Rep<PrimType::kF32> {
  using T = float;
  static T get(uint64_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b)); }
  static uint64_t put(T v) { return std::bit_cast<uint32_t>(v); }
};
template <>
struct Rep<PrimType::kF64> {
  using T = double;
  static T get(uint64_t b) { return std::bit_cast<double>(b); }
  static uint64_t put(T v) { return std::bit_cast<uint64_t>(v); }
};
template <>
struct Rep<PrimType::kBool> {
  using T = bool;
  static T get(uint64_t b) { return b != 0; }
  static uint64_t put(T v) { return v ? 1 : 0; }
};

template <class T>
inline constexpr bool kIsSigned = std::is_signed_v<T>;

// ---- integers: computed in uint64_t, where wrapping is defined, and truncated by put().

template <class T>
T quot(T a, T b) {
  if (b == 0) return 0;
  if constexpr (kIsSigned<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T rem(T a, T b) {
  if (b == 0) return 0;
  if constexpr (kIsSigned<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <class T>
T floor_div(T a, T b) {
  T q = quot(a, b);
  if constexpr (kIsSigned<T>) {
    if (rem(a, b) != 0 && (a < 0) != (b < 0)) q = static_cast<T>(q - 1);
  }
  return q;
}
template <class T>
T floor_mod(T a, T b) {
  T r = rem(a, b);
  if constexpr (kIsSigned<T>) {
    if (r != 0 && (r < 0) != (b < 0)) r = static_cast<T>(r + b);
  }
  return r;
}
template <class T>
T int_pow(T a, T b) {
  if constexpr (kIsSigned<T>) {
    if (b < 0) return 0;
  }
  uint64_t base = static_cast<uint64_t>(a), result = 1;
  for (auto e = static_cast<uint64_t>(b); e != 0; e >>= 1) {
    if (e & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}
template <class T>
T mul_hi(T a, T b) {
  using Wide = std::conditional_t<kIsSigned<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}

// ---- floats

template <class F>
inline constexpr F kPi = F(3.14159265358979323846264338327950288L);

// The argument is reduced exactly before it is multiplied by pi, so integers and halves are exact.
template <class F>
F sin_pi(F x) {
  if (!std::isfinite(x)) return std::numeric_limits<F>::quiet_NaN();
  F r = std::fmod(x, F(2));
  if (r > 1) r -= 2;
  if (r < -1) r += 2;
  if (r > F(0.5)) r = 1 - r;
  if (r < F(-0.5)) r = -1 - r;
  return std::sin(kPi<F> * r);
}
template <class F>
F cos_pi(F x) {
  if (!std::isfinite(x)) return std::numeric_limits<F>::quiet_NaN();
  F r = std::fabs(std::fmod(x, F(2)));
  if (r > 1) r = 2 - r;
  return std::sin(kPi<F> * (F(0.5) - r));
}
template <class F>
F log_gamma(F x) {
  int sign = 0;  // the plain functions write a global
  if constexpr (sizeof(F) == 4) return lgammaf_r(x, &sign);
  return F(lgamma_r(x, &sign));
}

template <ScalarOp op, class T>
T float_unary(T a) {
  using O = ScalarOp;
  if constexpr (op == O::kNeg) return -a;
  if constexpr (op == O::kAbs) return std::fabs(a);
  if constexpr (op == O::kSgn) return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  if constexpr (op == O::kSqrt) return std::sqrt(a);
  if constexpr (op == O::kRsqrt) return 1 / std::sqrt(a);
  if constexpr (op == O::kCbrt) return std::cbrt(a);
  if constexpr (op == O::kExp) return std::exp(a);
  if constexpr (op == O::kLog) return std::log(a);
  if constexpr (op == O::kLog2) return std::log2(a);
  if constexpr (op == O::kLog10) return std::log10(a);
  if constexpr (op == O::kLog1p) return std::log1p(a);
  if constexpr (op == O::kSin) return std::sin(a);
  if constexpr (op == O::kCos) return std::cos(a);
  if constexpr (op == O::kTan) return std::tan(a);
  if constexpr (op == O::kAsin) return std::asin(a);
  if constexpr (op == O::kAcos) return std::acos(a);
  if constexpr (op == O::kAtan) return std::atan(a);
  if constexpr (op == O::kSinh) return std::sinh(a);
  if constexpr (op == O::kCosh) return std::cosh(a);
  if constexpr (op == O::kTanh) return std::tanh(a);
  if constexpr (op == O::kAsinh) return std::asinh(a);
  if constexpr (op == O::kAcosh) return std::acosh(a);
  if constexpr (op == O::kAtanh) return std::atanh(a);
  if constexpr (op == O::kSinPi) return sin_pi(a);
  if constexpr (op == O::kCosPi) return cos_pi(a);
  if constexpr (op == O::kTanPi) return sin_pi(a) / cos_pi(a);
  if constexpr (op == O::kAsinPi) return std::asin(a) / kPi<T>;
  if constexpr (op == O::kAcosPi) return std::acos(a) / kPi<T>;
  if constexpr (op == O::kAtanPi) return std::atan(a) / kPi<T>;
  if constexpr (op == O::kGamma) return std::tgamma(a);
  if constexpr (op == O::kLgamma) return log_gamma(a);
  if constexpr (op == O::kErf) return std::erf(a);
  if constexpr (op == O::kErfc) return std::erfc(a);
  if constexpr (op == O::kFloor) return std::floor(a);
  if constexpr (op == O::kCeil) return std::ceil(a);
  if constexpr (op == O::kRound) return std::nearbyint(a);
  if constexpr (op == O::kTrunc) return std::trunc(a);
}

template <ScalarOp op, class T>
T float_binary(T a, T b) {
  using O = ScalarOp;
  if constexpr (op == O::kAdd) return a + b;
  if constexpr (op == O::kSub) return a - b;
  if constexpr (op == O::kMul) return a * b;
  if constexpr (op == O::kDiv) return a / b;
  if constexpr (op == O::kMod) return std::fmod(a, b);
  if constexpr (op == O::kPow) return std::pow(a, b);
  if constexpr (op == O::kMin) return std::fmin(a, b);
  if constexpr (op == O::kMax) return std::fmax(a, b);
  if constexpr (op == O::kAtan2) return std::atan2(a, b);
  if constexpr (op == O::kAtan2Pi) return std::atan2(a, b) / kPi<T>;
  if constexpr (op == O::kHypot) return std::hypot(a, b);
  if constexpr (op == O::kCopysign) return std::copysign(a, b);
  if constexpr (op == O::kNextafter) return std::nextafter(a, b);
}

// For f16, steps through its own bit patterns: the next float is not the next half.
inline uint64_t half_nextafter(uint64_t x, uint64_t y) {
  const float a = half_to_float(static_cast<uint16_t>(x)),
              b = half_to_float(static_cast<uint16_t>(y));
  if (std::isnan(a) || std::isnan(b)) return 0x7e00;
  if (a == b) return y;
  if (a == 0) return b > 0 ? 0x0001 : 0x8001;
  return (a < b) == (a > 0) ? x + 1 : x - 1;
}

template <ScalarOp op, class T>
T int_binary(T a, T b) {
  using O = ScalarOp;
  constexpr unsigned kMask = 8 * sizeof(T) - 1;
  [[maybe_unused]] const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if constexpr (op == O::kAdd) return static_cast<T>(ua + ub);
  if constexpr (op == O::kSub) return static_cast<T>(ua - ub);
  if constexpr (op == O::kMul) return static_cast<T>(ua * ub);
  if constexpr (op == O::kDiv) return floor_div(a, b);
  if constexpr (op == O::kMod) return floor_mod(a, b);
  if constexpr (op == O::kQuot) return quot(a, b);
  if constexpr (op == O::kRem) return rem(a, b);
  if constexpr (op == O::kPow) return int_pow(a, b);
  if constexpr (op == O::kMin) return a < b ? a : b;
  if constexpr (op == O::kMax) return a > b ? a : b;
  if constexpr (op == O::kAnd) return static_cast<T>(a & b);
  if constexpr (op == O::kOr) return static_cast<T>(a | b);
  if constexpr (op == O::kXor) return static_cast<T>(a ^ b);
  if constexpr (op == O::kShl) return static_cast<T>(ua << (ub & kMask));
  if constexpr (op == O::kShr) return static_cast<T>(a >> (ub & kMask));
  if constexpr (op == O::kLShr)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> (ub & kMask));
  if constexpr (op == O::kMulHi) return mul_hi(a, b);
  if constexpr (op == O::kSizeMul) return (Size(a) * Size(b)).value();
  if constexpr (op == O::kSizeAdd) return (Size(a) + Size(b)).value();
}

template <ScalarOp op, class T>
T int_unary(T a) {
  using O = ScalarOp;
  if constexpr (op == O::kNeg) return static_cast<T>(0 - static_cast<uint64_t>(a));
  if constexpr (op == O::kNot) return static_cast<T>(~a);
  if constexpr (op == O::kAbs) return a < 0 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a;
  if constexpr (op == O::kSgn) return static_cast<T>((a > 0) - (a < 0));
}

template <ScalarOp op, class T>
uint64_t int_count(T a) {
  const auto u = static_cast<std::make_unsigned_t<T>>(a);
  if constexpr (op == ScalarOp::kPopc) return static_cast<uint64_t>(std::popcount(u));
  if constexpr (op == ScalarOp::kClz) return static_cast<uint64_t>(std::countl_zero(u));
  return static_cast<uint64_t>(std::countr_zero(u));
}

constexpr bool is_compare(ScalarOp op) {
  return op == ScalarOp::kEq || op == ScalarOp::kNe || op == ScalarOp::kLt || op == ScalarOp::kLe;
}

template <ScalarOp op, PrimType P>
uint64_t apply_bool(uint64_t a, uint64_t b) {
  using O = ScalarOp;
  if constexpr (op == O::kAnd) return a & b;
  if constexpr (op == O::kOr) return a | b;
  if constexpr (op == O::kXor) return a ^ b;
  if constexpr (op == O::kNot) return a ^ 1;
  return 0;
}

template <ScalarOp op, class R>
uint64_t apply_float(uint64_t a, uint64_t b, uint64_t c) {
  using O = ScalarOp;
  using T = typename R::T;
  const T x = R::get(a);
  if constexpr (op == O::kIsNan) return std::isnan(x) ? 1 : 0;
  if constexpr (op == O::kIsInf) return std::isinf(x) ? 1 : 0;
  if constexpr (op == O::kLdexp) return R::put(std::ldexp(x, Rep<PrimType::kI32>::get(b)));
  if constexpr (op == O::kMad) {
    const uint64_t product = R::put(x * R::get(b));  // rounded in between, also for f16
    return R::put(R::get(product) + R::get(c));
  }
  if constexpr (op == O::kFma) return R::put(std::fma(x, R::get(b), R::get(c)));
  if constexpr (op == O::kLerp) {
    const T t = std::fmax(T(0), std::fmin(T(1), R::get(c)));
    return R::put(x + (R::get(b) - x) * t);
  }
  constexpr int arity = kOps[static_cast<int>(op)].arity;
  if constexpr (arity == 1 && op != O::kIsNan && op != O::kIsInf)
    return R::put(float_unary<op, T>(x));
  if constexpr (arity == 2 && op != O::kLdexp) return R::put(float_binary<op, T>(x, R::get(b)));
  return 0;
}

template <ScalarOp op, PrimType P>
uint64_t apply(uint64_t a, [[maybe_unused]] uint64_t b, [[maybe_unused]] uint64_t c) {
  using O = ScalarOp;
  using R = Rep<P>;
  using T = typename R::T;
  if constexpr (op == O::kSelect) {
    return a != 0 ? b : c;
  } else if constexpr (is_compare(op)) {
    const T x = R::get(a), y = R::get(b);
    if constexpr (op == O::kEq) return x == y ? 1 : 0;
    if constexpr (op == O::kNe) return x != y ? 1 : 0;
    if constexpr (op == O::kLt) return x < y ? 1 : 0;
    return x <= y ? 1 : 0;
  } else if constexpr (P == PrimType::kBool) {
    return apply_bool<op, P>(a, b);
  } else if constexpr (op == O::kNextafter && P == PrimType::kF16) {
    return half_nextafter(a, b);
  } else if constexpr (is_float_type(P)) {
    return apply_float<op, R>(a, b, c);
  } else if constexpr (op == O::kMad) {
    return R::put(
        static_cast<T>(static_cast<uint64_t>(R::get(a)) * static_cast<uint64_t>(R::get(b)) +
                       static_cast<uint64_t>(R::get(c))));
  } else if constexpr (op == O::kPopc || op == O::kClz || op == O::kCtz) {
    return int_count<op, T>(R::get(a));
  } else if constexpr (kOps[static_cast<int>(op)].arity == 1) {
    return R::put(int_unary<op, T>(R::get(a)));
  } else {
    return R::put(int_binary<op, T>(R::get(a), R::get(b)));
  }
}

// The language leaves out-of-range finite values undefined; here they saturate at I and are
// truncated to the requested type, as processors and GPUs do.
template <class I, class F>
I float_to_int(F x) {
  constexpr double kEnd = sizeof(I) == 8 ? 9223372036854775808.0 : 2147483648.0;
  const auto d = static_cast<double>(x);
  if (!std::isfinite(d)) return 0;
  if (d >= kEnd) return std::numeric_limits<I>::max();
  if (d < -kEnd) return std::numeric_limits<I>::min();
  return static_cast<I>(d);
}

template <PrimType From, PrimType To>
uint64_t convert(uint64_t a, uint64_t, uint64_t) {
  const auto x = Rep<From>::get(a);
  using ToT = typename Rep<To>::T;
  if constexpr (To == PrimType::kBool) {
    return x != 0 ? 1 : 0;
  } else if constexpr (is_float_type(To)) {
    return Rep<To>::put(static_cast<ToT>(x));
  } else if constexpr (is_float_type(From)) {
    using Whole = std::conditional_t<sizeof(ToT) == 8, int64_t, int32_t>;
    return Rep<To>::put(static_cast<ToT>(float_to_int<Whole>(x)));
  } else if constexpr (kIsSigned<ToT>) {
    return Rep<To>::put(static_cast<ToT>(x));
  } else {
    return Rep<To>::put(static_cast<ToT>(a));  // zero-extended from the source's own width
  }
}

template <int kBytes>
uint64_t same_bits(uint64_t a, uint64_t, uint64_t) {
  return a & (~uint64_t{0} >> (64 - 8 * kBytes));
}
inline uint64_t bits_to_bool(uint64_t a, uint64_t, uint64_t) { return a & 1; }

}  // namespace kenaz::scalar

#include "kernels/ad/derivatives.h"

#include <iterator>
#include <string_view>

namespace kenaz::ad {
namespace {

using namespace ir;

constexpr double kPi = 3.14159265358979323846, kLn2 = 0.69314718055994530942,
                 kLn10 = 2.30258509299404568402, kTwoOverRootPi = 1.12837916709551257390;

/// A scalar in a formula: operators on it emit code.
struct Term {
  Builder* b = nullptr;
  Atom atom = PrimValue{};
};
Term apply(ScalarOp op, const Term& x) { return {x.b, x.b->prim(op, {x.atom})}; }
Term apply(ScalarOp op, const Term& x, const Term& y) {
  return {x.b, x.b->prim(op, {x.atom, y.atom})};
}
Term operator+(const Term& x, const Term& y) { return apply(ScalarOp::kAdd, x, y); }
Term operator-(const Term& x, const Term& y) { return apply(ScalarOp::kSub, x, y); }
Term operator*(const Term& x, const Term& y) { return apply(ScalarOp::kMul, x, y); }
Term operator/(const Term& x, const Term& y) { return apply(ScalarOp::kDiv, x, y); }
Term operator-(const Term& x) { return apply(ScalarOp::kNeg, x); }
Term operator!(const Term& x) { return apply(ScalarOp::kNot, x); }
Term operator<=(const Term& x, const Term& y) { return apply(ScalarOp::kLe, x, y); }
Term operator<(const Term& x, const Term& y) { return apply(ScalarOp::kLt, x, y); }
Term operator==(const Term& x, const Term& y) { return apply(ScalarOp::kEq, x, y); }
Term operator&&(const Term& x, const Term& y) { return apply(ScalarOp::kAnd, x, y); }  // NOLINT
Term operator||(const Term& x, const Term& y) { return apply(ScalarOp::kOr, x, y); }   // NOLINT
Term select(const Term& cond, const Term& x, const Term& y) {
  return {x.b, x.b->select(cond.atom, x.atom, y.atom)};
}
#define FUNCTION(name, op) \
  Term name(const Term& x) { return apply(ScalarOp::op, x); }
FUNCTION(sqrt, kSqrt)
FUNCTION(exp, kExp)
FUNCTION(log, kLog)
FUNCTION(sin, kSin)
FUNCTION(cos, kCos)
FUNCTION(sinh, kSinh)
FUNCTION(cosh, kCosh)
FUNCTION(sinpi, kSinPi)
FUNCTION(cospi, kCosPi)
FUNCTION(tanpi, kTanPi)
FUNCTION(trunc, kTrunc)
FUNCTION(isnan, kIsNan)
#undef FUNCTION
Term quot(const Term& x, const Term& y) { return apply(ScalarOp::kQuot, x, y); }
Term pow(const Term& x, const Term& y) { return apply(ScalarOp::kPow, x, y); }
Term hypot(const Term& x, const Term& y) { return apply(ScalarOp::kHypot, x, y); }
Term sgn(const Term& x) { return apply(ScalarOp::kSgn, x); }
Term copysign(const Term& x, const Term& y) { return apply(ScalarOp::kCopysign, x, y); }
Term ldexp(const Term& x, const Term& y) { return apply(ScalarOp::kLdexp, x, y); }

// Macros, for the code of what is not chosen must not be made.
#define by_float(f) (is_float(e_.type) ? (f) : zero)
#define by_bool(f) (e_.type == PrimType::kBool ? (f) : zero)

/// The factors of one operation. Each row of the table is evaluated per operand, so that operands
/// that are not wanted cost no code.
class Rows {
 public:
  Rows(Builder* b, const EPrim& e, const Atom& result) : b_(b), e_(e), r{b, result} {
    const auto operand = [&](size_t k) { return k < e.args.size() ? Term{b, e.args[k]} : Term{b}; };
    x = operand(0);
    y = operand(1);
    z = operand(2);
  }

  Factor factor(size_t operand) {
    const Factor zero{}, one{Factor::Kind::kOne}, minus{Factor::Kind::kNegative},
        convert{Factor::Kind::kConvert};
    switch (e_.op) {
#define DERIVATIVE(op, by_x, by_y, by_z) \
  case ScalarOp::op:                     \
    if (operand == 0) return by_x;       \
    if (operand == 1) return by_y;       \
    return by_z;
#include "kernels/ad/derivatives.def"
#undef DERIVATIVE
    }
    (void)zero, (void)one, (void)minus, (void)convert;
    return {};
  }

 private:
  Term c(double v) const {
    if (is_float(e_.type)) return {b_, PrimValue::of_float(e_.type, v)};
    return {b_, PrimValue::of_int(e_.type, static_cast<int64_t>(v))};
  }
  static Factor times(const Term& f) { return {Factor::Kind::kTimes, f.atom}; }
  static Factor when(const Term& cond) { return {Factor::Kind::kIf, cond.atom}; }
  /// Of min and max: `better` says whether the first operand is the result if none is NaN.
  Term takes_first(const Term& better) const {
    return is_float(e_.type) ? better || isnan(y) : better;
  }
  Term clamp01(const Term& t) const {
    return apply(ScalarOp::kMin, apply(ScalarOp::kMax, t, c(0)), c(1));
  }

  /// The derivative of log(gamma(x)): the asymptotic series (Abramowitz and Stegun 6.3.18) of an
  /// argument above 10, by the recurrence from smaller ones, by reflection from negative ones.
  Term digamma(const Term& at) const {
    if (e_.type != PrimType::kF16) return digamma_of(at, e_.type);
    const Term wide{b_, b_->convert(at.atom, PrimType::kF32)};
    return {b_, b_->convert(digamma_of(wide, PrimType::kF32).atom, PrimType::kF16)};
  }
  Term digamma_of(const Term& at, PrimType type) const {
    const auto k = [&](double v) { return Term{b_, PrimValue::of_float(type, v)}; };
    const Term reflected = at < k(0.5);
    const Term start = select(reflected, k(1) - at, at);
    Term below = k(0);
    for (int i = 0; i < 10; ++i) below = below + k(1) / (start + k(i));
    const Term large = start + k(10);
    const Term w = k(1) / (large * large);
    Term series = k(1.0 / 12);
    static constexpr double kTerms[] = {-1.0 / 120, 1.0 / 252,      -1.0 / 240,
                                        1.0 / 132,  -691.0 / 32760, 1.0 / 12};
    Term sum = k(0);
    for (size_t i = std::size(kTerms); i-- > 0;) sum = (sum + k(kTerms[i])) * w;
    series = (series + sum) * w;
    const Term value = log(large) - k(0.5) / large - series - below;
    const Term safe = select(reflected, at, k(0.25));  // so that no infinity is made and dropped
    return select(reflected, value - k(kPi) / tanpi(safe), value);
  }

  Builder* b_;
  const EPrim& e_;
  Term x, y, z, r;
};

#undef by_float
#undef by_bool

}  // namespace

std::vector<Factor> partial_derivatives(Builder& b, const EPrim& e, const Atom& result,
                                        const std::vector<char>& wanted) {
  Rows rows(&b, e, result);
  std::vector<Factor> out;
  for (size_t k = 0; k < e.args.size(); ++k) {
    out.push_back(wanted[k] ? rows.factor(k) : Factor{});
  }
  return out;
}

bool is_always_zero(const EPrim& e, size_t operand) {
  switch (e.op) {
#define DERIVATIVE(op, by_x, by_y, by_z)                            \
  case ScalarOp::op: {                                              \
    constexpr std::string_view row[] = {#by_x, #by_y, #by_z};       \
    const std::string_view f = row[operand];                        \
    if (f.starts_with("by_float")) return !is_float(e.type);        \
    if (f.starts_with("by_bool")) return e.type != PrimType::kBool; \
    return f == "zero";                                             \
  }
#include "kernels/ad/derivatives.def"
#undef DERIVATIVE
  }
  return false;
}

Atom times(Builder& b, const Factor& factor, const Atom& value) {
  const PrimType type = b.program().type_of(value).prim;
  const Atom zero = PrimValue{type, 0};
  switch (factor.kind) {
    case Factor::Kind::kTimes: {
      const Atom product = b.mul(factor.atom, value);
      // The factor itself, as of a value of 1, has no statement for the checks to stand before.
      if (b.certs().empty() || product != factor.atom) return product;
      return b.emit(EAtom{product}, b.program().type_of(product), "checked");
    }
    case Factor::Kind::kNegative:
      return type == PrimType::kBool ? value : b.prim(ScalarOp::kNeg, {value});
    case Factor::Kind::kIf: return b.select(factor.atom, value, zero);
    case Factor::Kind::kZero:
    case Factor::Kind::kOne:
    case Factor::Kind::kConvert: break;
  }
  return value;
}

}  // namespace kenaz::ad

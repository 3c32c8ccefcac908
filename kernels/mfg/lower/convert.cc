#include "kernels/mfg/lower/lowerer.h"

namespace kenaz::mfg {

Atom Lowerer::truth(Builder& b, const Atom& a) {
  if (!a.is_const()) {
    const auto known = truth_of_.find(a.var().index);
    if (known != truth_of_.end()) return known->second;
  }
  const PrimType t = b.program().type_of(a).prim;
  return b.prim(ScalarOp::kNe, {a, PrimValue::of_int(t, 0)}, "cond");
}

Atom Lowerer::from_truth(Builder& b, const Atom& cond, PrimType to) {
  const Atom number = b.convert(cond, to, "truth");
  if (!number.is_const()) truth_of_.emplace(number.var().index, cond);
  return number;
}

/// The nearest integer towards 0, at most as far as the type goes; of a NaN, 0.
Atom Lowerer::float_to_int(Builder& b, Atom a, PrimType to) {
  const auto real = [](double v) { return PrimValue::f32(static_cast<float>(v)); };
  if (to == PrimType::kU8 || to == PrimType::kU16) {
    const Atom low = b.max(a, real(0));
    const Atom bounded = b.min(low, real(to == PrimType::kU8 ? 255 : 65535));
    return b.convert(b.convert(bounded, PrimType::kI32), to);
  }
  if (to == PrimType::kU32) {
    const Atom positive = b.max(a, real(0));
    const Atom whole = b.convert(b.convert(positive, PrimType::kI64), PrimType::kU32);
    const Atom fits = b.lt(positive, real(4294967296.0));
    return b.select(fits, whole, PrimValue::of_int(to, 0xffffffff));
  }
  const Atom whole = b.convert(a, PrimType::kI32);
  const Atom not_above = b.select(b.le(real(2147483648.0), a), PrimValue::i32(INT32_MAX), whole);
  const Atom result = b.select(b.lt(a, real(-2147483648.0)), PrimValue::i32(INT32_MIN), not_above);
  if (to == PrimType::kI32) return result;
  const int64_t most = to == PrimType::kI8 ? INT8_MAX : INT16_MAX;
  const Atom bounded = b.max(b.min(result, PrimValue::i32(static_cast<int32_t>(most))),
                             PrimValue::i32(static_cast<int32_t>(-most - 1)));
  return b.convert(bounded, to);
}

Atom Lowerer::convert(Builder& b, Atom a, PrimType to) {
  const PrimType from = b.program().type_of(a).prim;
  if (from == to) return a;
  if (!a.is_const()) {
    const auto known = truth_of_.find(a.var().index);
    if (known != truth_of_.end()) return from_truth(b, known->second, to);
  }
  if (is_float(from) && is_integer(to)) return float_to_int(b, a, to);
  // From a narrow signed type to a wide unsigned one as C does it: wider first.
  const bool widens = prim_kind(from) == PrimKind::kSigned && prim_kind(to) == PrimKind::kUnsigned;
  if (widens && prim_size(from) < prim_size(to)) a = b.convert(a, PrimType::kI32);
  return b.convert(a, to);
}

}  // namespace kenaz::mfg

#include "kernels/glsl/scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "kernels/glsl/types.h"
#include "protocol/base/check.h"

namespace kenaz::glsl {
namespace {

using Args = std::span<const std::string>;

std::string call(Library& lib, const std::string& stem, PrimType t, Args args) {
  std::string s = lib.need(fmt::format("{}_{}", stem, prim_name(t))) + "(";
  for (size_t i = 0; i < args.size(); i++) s += (i ? ", " : "") + args[i];
  return s + ")";
}

std::string builtin(const char* name, Args args) {
  std::string s = fmt::format("{}(", name);
  for (size_t i = 0; i < args.size(); i++) s += (i ? ", " : "") + args[i];
  return s + ")";
}

std::string infix(const char* op, Args a) { return fmt::format("{} {} {}", a[0], op, a[1]); }

const char* comparison(ScalarOp op) {
  switch (op) {
    case ScalarOp::kEq: return "==";
    case ScalarOp::kNe: return "!=";
    case ScalarOp::kLt: return "<";
    case ScalarOp::kLe: return "<=";
    default: UNREACHABLE("comparison");
  }
}

/// Of a function's name in the library.
std::string form_prefix(kir::Form form) {
  switch (form) {
    case kir::Form::kWhole: return "";
    case kir::Form::kUsual: return "usual_";
    case kir::Form::kIsUsual: return "is_usual_";
  }
  UNREACHABLE("form");
}

/// Between integer types. A signed value that becomes unsigned is taken for unsigned at its own
/// width first.
std::string resize(Library& lib, PrimType from, PrimType to, const std::string& a) {
  const bool to_unsigned = prim_kind(to) == PrimKind::kUnsigned;
  if (is_narrow(to) && prim_size(to) <= prim_size(from)) return wrap(to, a);
  if (is_narrow(from)) {
    const bool turns = to_unsigned && prim_kind(from) != PrimKind::kUnsigned;
    const std::string wide = widened(from, a);
    if (prim_kind(from) != PrimKind::kUnsigned && to == PrimType::kI64) {
      return fmt::format("{}({})", lib.need("widen_i32"), wide);
    }
    return fmt::format("{}({})", glsl_type(to),
                       turns ? fmt::format("wrap_u{}(uint({}))", 8 * prim_size(from), wide) : wide);
  }
  if (to_unsigned) return fmt::format("{}({}({}))", glsl_type(to), glsl_unsigned(from), a);
  if (from == PrimType::kI32 && to == PrimType::kI64) {
    return fmt::format("{}({})", lib.need("widen_i32"), a);
  }
  return fmt::format("{}({})", glsl_type(to), a);
}

std::string convert(Library& lib, PrimType from, PrimType to, const std::string& a) {
  if (from == to) return a;
  const std::string target = glsl_type(to);
  // A loop's counter is 0 in the first of its turns, and drivers unroll loops.
  if (!is_float(from) && is_float(to)) {
    const std::string converted = untold_to_float(from, to, a);
    return to == PrimType::kF16 ? converted : opaque(to, converted);
  }
  if (to == PrimType::kBool) {
    if (is_narrow(from)) return widened(from, a) + " != " + widened(from, "0");
    return fmt::format("{} != {}", a, literal({from, 0}));
  }
  if (is_float(from) && is_integer(to)) {
    const char* width = prim_size(to) == 8 ? "i64" : "i32";
    const std::string name = lib.need(fmt::format("trunc_{}_{}", width, prim_name(from)));
    const std::string whole = fmt::format("{}({})", name, a);
    return is_narrow(to) ? wrap(to, whole) : fmt::format("{}({})", target, whole);
  }
  if (is_integer(from) && is_integer(to)) return resize(lib, from, to, a);
  return is_float(to) ? narrowed(to, a) : fmt::format("{}({})", target, a);
}

std::string bitcast(PrimType from, PrimType to, const std::string& a) {
  if (from == to) return a;
  if (is_narrow(from) && is_narrow(to)) return wrap(to, a);
  if (from == PrimType::kF16 && is_narrow(to)) {
    return wrap(to, fmt::format("float16BitsToUint16({})", a));
  }
  if (is_float(from) == is_float(to)) return fmt::format("{}({})", glsl_type(to), a);
  switch (is_float(to) ? to : from) {
    case PrimType::kF16:
      return is_float(to) ? fmt::format("uint16BitsToFloat16(uint16_t({}))", a)
                          : fmt::format("{}(float16BitsToUint16({}))", glsl_type(to), a);
    case PrimType::kF32:
      return is_float(to) ? fmt::format("uintBitsToFloat(uint({}))", a)
                          : fmt::format("{}(floatBitsToUint({}))", glsl_type(to), a);
    default:
      return is_float(to) ? fmt::format("uint64BitsToDouble(uint64_t({}))", a)
                          : fmt::format("{}(doubleBitsToUint64({}))", glsl_type(to), a);
  }
}

std::string bool_op(ScalarOp op, Args a) {
  switch (op) {
    case ScalarOp::kAnd: return infix("&&", a);
    case ScalarOp::kOr: return infix("||", a);
    case ScalarOp::kXor:
    case ScalarOp::kNe: return infix("!=", a);
    case ScalarOp::kEq: return infix("==", a);
    case ScalarOp::kLt: return fmt::format("!{} && {}", a[0], a[1]);
    case ScalarOp::kLe: return fmt::format("!{} || {}", a[0], a[1]);
    case ScalarOp::kNot: return "!" + a[0];
    default: UNREACHABLE("operation on bool");
  }
}

/// "div" or its unsigned form.
std::string int_division(Library& lib, const char* stem, const char* unsigned_stem, PrimType t,
                         Args a) {
  const std::string full = prim_kind(t) == PrimKind::kUnsigned ? unsigned_stem : stem;
  return call(lib, (lib.quick_divisions() && prim_size(t) == 8 ? "quick_" : "") + full, t, a);
}

std::string int_op(Library& lib, ScalarOp op, PrimType t, Args a) {
  const std::string type = glsl_type(t), u = glsl_unsigned(t);
  const int bits = 8 * prim_size(t);
  const char* width = bits == 64 ? "64" : "32";
  switch (op) {
    case ScalarOp::kDiv: return int_division(lib, "div", "udiv", t, a);
    case ScalarOp::kMod: return int_division(lib, "mod", "umod", t, a);
    case ScalarOp::kQuot: return int_division(lib, "quot", "udiv", t, a);
    case ScalarOp::kRem: return int_division(lib, "rem", "umod", t, a);
    case ScalarOp::kPow: return call(lib, "ipow", t, a);
    case ScalarOp::kMin: return fmt::format("{0} < {1} ? {0} : {1}", a[0], a[1]);
    case ScalarOp::kMax: return fmt::format("{0} > {1} ? {0} : {1}", a[0], a[1]);
    case ScalarOp::kAnd: return infix("&", a);
    case ScalarOp::kOr: return infix("|", a);
    case ScalarOp::kXor: return infix("^", a);
    case ScalarOp::kShl: return fmt::format("{} << ({} & {}({}))", a[0], a[1], type, bits - 1);
    case ScalarOp::kShr: return fmt::format("{} >> ({} & {}({}))", a[0], a[1], type, bits - 1);
    case ScalarOp::kLShr:
      return fmt::format("{0}({1}({2}) >> ({1}({3}) & {1}({4})))", type, u, a[0], a[1], bits - 1);
    case ScalarOp::kNeg: return fmt::format("{}(0) - {}", type, a[0]);
    case ScalarOp::kNot: return "~" + a[0];
    case ScalarOp::kAbs: return fmt::format("{0} < {1}(0) ? {1}(0) - {0} : {0}", a[0], type);
    case ScalarOp::kSgn:
      // Not as a difference of comparisons: see `untellable`.
      if (prim_kind(t) == PrimKind::kUnsigned) return fmt::format("{1}({0} != {1}(0))", a[0], type);
      return fmt::format("({0} >> {1}) | {2}({0} != {2}(zero_bits))", a[0], bits - 1, type);
    case ScalarOp::kPopc: return call(lib, fmt::format("popc{}", width), t, a);
    case ScalarOp::kClz: return call(lib, fmt::format("clz{}", width), t, a);
    case ScalarOp::kCtz: return call(lib, fmt::format("ctz{}", width), t, a);
    case ScalarOp::kSizeMul: return call(lib, "size_mul", t, a);
    case ScalarOp::kSizeAdd: return call(lib, "size_add", t, a);
    case ScalarOp::kMulHi: {
      if (bits == 64) return call(lib, "mulhi", t, a);
      const char* wide = prim_kind(t) == PrimKind::kUnsigned ? "uint64_t" : "int64_t";
      return fmt::format("{0}(({1}({2}) * {1}({3})) >> {4})", type, wide, a[0], a[1], bits);
    }
    default: UNREACHABLE("operation on integers");
  }
}

/// On integers of 8 and 16 bits: see is_narrow.
std::string narrow_op(Library& lib, ScalarOp op, PrimType t, Args a) {
  std::vector<std::string> wide;
  for (const std::string& arg : a) wide.push_back(widened(t, arg));
  const int bits = 8 * prim_size(t);
  switch (op) {
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe: return infix(comparison(op), wide);
    case ScalarOp::kMin: return fmt::format("{} < {} ? {} : {}", wide[0], wide[1], a[0], a[1]);
    case ScalarOp::kMax: return fmt::format("{} > {} ? {} : {}", wide[0], wide[1], a[0], a[1]);
    case ScalarOp::kPopc:
    case ScalarOp::kClz:
    case ScalarOp::kCtz: return int_op(lib, op, t, a);
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return wrap(t, fmt::format("{} {} ({} & {})", wide[0], op == ScalarOp::kShl ? "<<" : ">>",
                                 wide[1], widened(t, std::to_string(bits - 1))));
    case ScalarOp::kLShr:
      return wrap(t, fmt::format("wrap_u{0}(uint({1})) >> ({2} & {3})", bits, a[0], wide[1],
                                 widened(t, std::to_string(bits - 1))));
    case ScalarOp::kMulHi: return wrap(t, fmt::format("({} * {}) >> {}", wide[0], wide[1], bits));
    default: {
      const bool is_unsigned = prim_kind(t) == PrimKind::kUnsigned;
      const PrimType type = is_unsigned ? PrimType::kU32 : PrimType::kI32;
      return wrap(t, scalar_op(lib, op, type, type, wide));
    }
  }
}

std::string float_op(Library& lib, ScalarOp op, PrimType t, Args a) {
  const std::string type = glsl_type(t);
  switch (op) {
    case ScalarOp::kDiv:
      if (t != PrimType::kF64) return call(lib, "div", t, a);
      return fmt::format("{} / {}", a[0], opaque(t, a[1]));
    case ScalarOp::kMin: return call(lib, "fmin", t, a);
    case ScalarOp::kMax: return call(lib, "fmax", t, a);
    case ScalarOp::kMod: return call(lib, "fmod", t, a);
    case ScalarOp::kNeg: return negated(t, a[0]);
    case ScalarOp::kAbs: return builtin("abs", a);
    case ScalarOp::kSgn: return call(lib, "fsgn", t, a);
    case ScalarOp::kFma: return call(lib, "ffma", t, a);
    case ScalarOp::kSqrt: return t == PrimType::kF64 ? builtin("sqrt", a) : call(lib, "sqrt", t, a);
    case ScalarOp::kRsqrt:
      return t == PrimType::kF64 ? fmt::format("1.0lf / sqrt({})", a[0]) : call(lib, "rsqrt", t, a);
    case ScalarOp::kFloor: return builtin("floor", a);
    case ScalarOp::kCeil: return builtin("ceil", a);
    case ScalarOp::kRound: return builtin("roundEven", a);
    case ScalarOp::kTrunc: return builtin("trunc", a);
    case ScalarOp::kLerp: return call(lib, "flerp", t, a);
    case ScalarOp::kLdexp: {
      const std::string f = lib.need("ldexp_f64");
      return fmt::format("{}({}(double({}), {}))", type, f, a[0], a[1]);
    }
    default: return call(lib, std::string(scalar_op_name(op)), t, a);
  }
}

}  // namespace

std::string untold_to_float(PrimType from, PrimType to, const std::string& a) {
  const std::string wide = is_narrow(from) ? widened(from, a) : a;
  // Integers reach a half through a float: every device converts small ones from 32 bits.
  if (to == PrimType::kF16) return narrowed(to, fmt::format("float({})", wide));
  return fmt::format("{}({})", glsl_type(to), wide);
}

std::string scalar_op(Library& lib, ScalarOp op, PrimType type, PrimType to, Args a) {
  switch (op) {
    case ScalarOp::kConvert: return convert(lib, type, to, a[0]);
    case ScalarOp::kBitcast: return bitcast(type, to, a[0]);
    case ScalarOp::kSelect: return fmt::format("{} ? {} : {}", a[0], a[1], a[2]);
    default: break;
  }
  if (type == PrimType::kBool) return bool_op(op, a);
  if (is_narrow(type)) return narrow_op(lib, op, type, a);
  switch (op) {
    case ScalarOp::kAdd: return infix("+", a);
    case ScalarOp::kSub: return infix("-", a);
    case ScalarOp::kMul: return infix("*", a);
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe: return infix(comparison(op), a);
    case ScalarOp::kMad: return fmt::format("{} * {} + {}", a[0], a[1], a[2]);
    default: break;
  }
  return is_float(type) ? float_op(lib, op, type, a) : int_op(lib, op, type, a);
}

std::string usual_form(Library& lib, const kir::IPrim& i, Args a) {
  return call(lib, form_prefix(i.form) + std::string(scalar_op_name(i.op)), i.type, a);
}

std::optional<PrimValue> literal_reciprocal(const kir::IPrim& i) {
  if (i.op != ScalarOp::kDiv || i.type != PrimType::kF32 || !i.args[1].is_const()) return {};
  const auto by = static_cast<float>(i.args[1].constant().as_double());
  // As is_usual_div_f32 has it; not so a NaN.
  if (!(std::abs(by) >= 0x1p-48F && std::abs(by) <= 0x1p48F)) return {};
  return PrimValue::of_float(PrimType::kF32, 1.0F / by);
}

std::string quotient_by(Library& lib, const kir::IPrim& i, Args a) {
  return call(lib, form_prefix(i.form) + "div_by", i.type, a);
}

}  // namespace kenaz::glsl

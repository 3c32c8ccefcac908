#include "kernels/spirv/arithmetic.h"

#include <glslang/SPIRV/GLSL.std.450.h>

#include <algorithm>
#include <map>
#include <numbers>

namespace kenaz::spirv {

using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

enum class Sign : uint8_t { kAsIs, kSigned, kUnsigned };
enum class How : uint8_t { kPlain, kSwapped, kNot, kSwappedNot };

struct ScalarRow {
  ScalarOp op;
  Sign sign;
  How how;
};

const std::map<int, ScalarRow>& core_rows() {
  static const std::map<int, ScalarRow> rows = {
#define SPIRV_SCALAR(spirv, op, sign, how) {spv::spirv, {ScalarOp::op, Sign::sign, How::how}},
#include "kernels/spirv/scalars.def"
#undef SPIRV_SCALAR
  };
  return rows;
}

const std::map<int, ScalarRow>& glsl_rows() {
  static const std::map<int, ScalarRow> rows = {
#define GLSL_STD(name, op, sign) {GLSLstd450##name, {ScalarOp::op, Sign::sign, How::kPlain}},
#include "kernels/spirv/glsl_std.def"
#undef GLSL_STD
  };
  return rows;
}

/// An integer as another integer type, extended by zeros.
Value zero_extended(Builder& k, const Value& v, PrimType type) {
  if (!is_integer(v.type.prim) || !is_integer(type)) return v;
  if (prim_size(v.type.prim) == prim_size(type)) return k.bitcast(v, type);
  return as_type(k, k.convert(as_type(k, v, unsigned_of(v.type.prim)), unsigned_of(type)), type);
}

Value apply(Builder& k, const std::string& name, const ScalarRow& row, Values args,
            PrimType result) {
  if (static_cast<int>(args.size()) != scalar_op_arity(row.op)) {
    refuse("{}: of {} operands", name, args.size());
  }
  PrimType type = args[0].type.prim;
  if (row.sign == Sign::kSigned) type = signed_of(type);
  if (row.sign == Sign::kUnsigned) type = unsigned_of(type);
  for (Value& a : args) {  // counts of shifts may be of another size
    a = zero_extended(k, a, type);
    if (a.type.prim != type) refuse("{}: operands of different types", name);
  }
  if (!scalar_op_accepts(row.op, type)) refuse("{}: of {}", name, prim_name(type));
  if (row.how == How::kSwapped || row.how == How::kSwappedNot) std::swap(args[0], args[1]);
  Value v = k.op(row.op, type, type, std::move(args));
  if (row.how == How::kNot || row.how == How::kSwappedNot) v = k.not_(v);
  v = zero_extended(k, v, result);
  if (v.type.prim != result) refuse("{}: a result of another type", name);
  return v;
}

/// Component by component; `f` gets the operands of one.
template <class F>
Values each(const std::string& name, std::span<const Values> operands, size_t n, F&& f) {
  for (const Values& o : operands) {
    if (o.size() != n) refuse("{}: operands and result of different sizes", name);
  }
  Values out;
  for (size_t c = 0; c < n; c++) {
    Values args;
    for (const Values& o : operands) args.push_back(o[c]);
    out.push_back(f(std::move(args), c));
  }
  return out;
}

// ---- conversions

void check_conversion(spv::Op op, PrimType from, PrimType to) {
  const bool from_float =
      op == spv::OpConvertFToS || op == spv::OpConvertFToU || op == spv::OpFConvert;
  const bool to_float =
      op == spv::OpConvertSToF || op == spv::OpConvertUToF || op == spv::OpFConvert;
  const auto fits = [](PrimType t, bool wants_float) {
    return wants_float ? is_float(t) : is_integer(t);
  };
  if (!fits(from, from_float) || !fits(to, to_float)) {
    refuse("{}: {} to {}", name_of(op), prim_name(from), prim_name(to));
  }
}

/// Of a number from 2^63 on as well, of which kernel IR's conversion knows nothing.
Value to_unsigned(Builder& k, const Value& v, PrimType to) {
  const Value whole = k.convert(v, PrimType::kI64);
  if (prim_size(to) < 8) return as_type(k, k.convert(whole, signed_of(to)), to);
  if (v.type.prim == PrimType::kF16) return as_type(k, whole, to);  // they end before that
  const Value half = PrimValue::of_float(v.type.prim, 0x1p63);
  const Value high = k.add(k.bitcast(k.convert(k.sub(v, half), PrimType::kI64), PrimType::kU64),
                           Value(PrimValue{PrimType::kU64, uint64_t{1} << 63}));
  return as_type(k, k.select(k.lt(v, half), k.bitcast(whole, PrimType::kU64), high), to);
}

Value converted(Builder& k, spv::Op op, const Value& v, PrimType to) {
  const PrimType from = v.type.prim;
  check_conversion(op, from, to);
  switch (op) {
    case spv::OpConvertFToS: return as_type(k, k.convert(v, signed_of(to)), to);
    case spv::OpConvertFToU: return to_unsigned(k, v, to);
    case spv::OpConvertSToF:
    case spv::OpSConvert: {
      const Value s = as_type(k, v, signed_of(from));
      return op == spv::OpSConvert ? as_type(k, k.convert(s, signed_of(to)), to) : k.convert(s, to);
    }
    case spv::OpConvertUToF: return k.convert(as_type(k, v, unsigned_of(from)), to);
    case spv::OpUConvert: return zero_extended(k, v, to);
    default: return k.convert(v, to);
  }
}

/// All bits as one number, or the other way.
Values bit_cast(Builder& k, const Values& from, const std::vector<PrimType>& to) {
  int from_bytes = 0, to_bytes = 0;
  for (const Value& v : from) from_bytes += prim_size(v.type.prim);
  for (const PrimType t : to) to_bytes += prim_size(t);
  const auto is_bool = [](PrimType t) { return t == PrimType::kBool; };
  if (from_bytes != to_bytes || is_bool(from[0].type.prim) || is_bool(to[0])) {
    refuse("OpBitcast: of {} bytes to {}", from_bytes, to_bytes);
  }
  if (from.size() == to.size()) {
    return each("OpBitcast", std::span(&from, 1), to.size(), [&](Values args, size_t c) {
      if (prim_size(args[0].type.prim) != prim_size(to[c])) {
        refuse("OpBitcast: of parts of different sizes");
      }
      return k.bitcast(args[0], to[c]);
    });
  }
  const auto number = [](int bytes) {
    return bytes == 1   ? PrimType::kU8
           : bytes == 2 ? PrimType::kU16
           : bytes == 4 ? PrimType::kU32
                        : PrimType::kU64;
  };
  if (from_bytes > 8) refuse("OpBitcast: of vectors of different sizes");
  const auto place_of = [](size_t part, PrimType t) {  // in bits
    return static_cast<int64_t>(part) * 8 * prim_size(t);
  };
  Value all = PrimValue{PrimType::kU64, 0};
  for (size_t c = 0; c < from.size(); c++) {
    const PrimType t = from[c].type.prim;
    const Value piece = k.convert(k.bitcast(from[c], number(prim_size(t))), PrimType::kU64);
    all = k.or_(all, k.shl(piece, Builder::same_type(all, place_of(c, t))));
  }
  Values out;
  for (size_t c = 0; c < to.size(); c++) {
    const Value piece = k.lshr(all, Builder::same_type(all, place_of(c, to[c])));
    out.push_back(k.bitcast(k.convert(piece, number(prim_size(to[c]))), to[c]));
  }
  return out;
}

Values select(Builder& k, std::span<const Values> operands, size_t n) {
  if (operands.size() != 3) refuse("OpSelect: of {} operands", operands.size());
  const Values& cond = operands[0];
  return each("OpSelect", operands.subspan(1), n, [&](Values args, size_t c) {
    if (cond.size() != 1 && cond.size() != n) refuse("OpSelect: a condition of another size");
    const Value& chosen = cond[cond.size() == 1 ? 0 : c];
    if (chosen.type.prim != PrimType::kBool || args[0].type != args[1].type) {
      refuse("OpSelect: operands of different types");
    }
    return k.select(chosen, args[0], args[1]);
  });
}

}  // namespace

PrimType signed_of(PrimType t) {
  switch (t) {
    case PrimType::kU8: return PrimType::kI8;
    case PrimType::kU16: return PrimType::kI16;
    case PrimType::kU32: return PrimType::kI32;
    case PrimType::kU64: return PrimType::kI64;
    default: return t;
  }
}

PrimType unsigned_of(PrimType t) {
  switch (t) {
    case PrimType::kI8: return PrimType::kU8;
    case PrimType::kI16: return PrimType::kU16;
    case PrimType::kI32: return PrimType::kU32;
    case PrimType::kI64: return PrimType::kU64;
    default: return t;
  }
}

Value as_type(Builder& k, const Value& v, PrimType type) {
  const bool both = is_integer(v.type.prim) && is_integer(type);
  return both && prim_size(v.type.prim) == prim_size(type) ? k.bitcast(v, type) : v;
}

std::optional<Values> arithmetic(Builder& k, spv::Op op, std::span<const Values> operands,
                                 const std::vector<PrimType>& result) {
  const size_t n = result.size();
  if (const auto row = core_rows().find(op); row != core_rows().end()) {
    return each(name_of(op), operands, n, [&](Values args, size_t c) {
      return apply(k, name_of(op), row->second, std::move(args), result[c]);
    });
  }
  switch (op) {
    case spv::OpConvertFToU:
    case spv::OpConvertFToS:
    case spv::OpConvertSToF:
    case spv::OpConvertUToF:
    case spv::OpUConvert:
    case spv::OpSConvert:
    case spv::OpFConvert:
      if (operands.size() != 1) refuse("{}: of {} operands", name_of(op), operands.size());
      return each(name_of(op), operands, n,
                  [&](Values args, size_t c) { return converted(k, op, args[0], result[c]); });
    case spv::OpBitcast:
    case spv::OpConvertUToPtr:
    case spv::OpConvertPtrToU:
      if (operands.size() != 1) refuse("{}: of {} operands", name_of(op), operands.size());
      return bit_cast(k, operands[0], result);
    case spv::OpSelect: return select(k, operands, n);
    case spv::OpFMod:  // of the divisor's sign
      return each(name_of(op), operands, n, [&](Values args, size_t) {
        if (args.size() != 2 || args[0].type != args[1].type || !is_float(args[0].type.prim)) {
          refuse("OpFMod: operands of different types");
        }
        const Value whole = k.prim(ScalarOp::kFloor, {k.prim(ScalarOp::kDiv, {args[0], args[1]})});
        return k.sub(args[0], k.mul(args[1], whole));
      });
    case spv::OpFOrdNotEqual:
      return each(name_of(op), operands, n, [&](Values args, size_t) {
        if (args.size() != 2 || args[0].type != args[1].type || !is_float(args[0].type.prim)) {
          refuse("OpFOrdNotEqual: operands of different types");
        }
        return k.or_(k.lt(args[0], args[1]), k.lt(args[1], args[0]));
      });
    default: return std::nullopt;
  }
}

Values glsl_std(Builder& k, uint32_t number, std::span<const Values> operands,
                const std::vector<PrimType>& result) {
  const std::string name = fmt::format("OpExtInst {} of GLSL.std.450", number);
  const auto apply_row = [&](const ScalarRow& row, Values args, size_t c) {
    return apply(k, name, row, std::move(args), result[c]);
  };
  if (const auto row = glsl_rows().find(static_cast<int>(number)); row != glsl_rows().end()) {
    return each(name, operands, result.size(),
                [&](Values args, size_t c) { return apply_row(row->second, std::move(args), c); });
  }
  return each(name, operands, result.size(), [&](Values args, size_t c) -> Value {
    const auto clamp = [&](Sign sign) {
      if (args.size() != 3) refuse("{}: of {} operands", name, args.size());
      const ScalarRow max{ScalarOp::kMax, sign, How::kPlain},
          min{ScalarOp::kMin, sign, How::kPlain};
      return apply_row(min, {apply_row(max, {args[0], args[1]}, c), args[2]}, c);
    };
    const auto find = [&](ScalarOp op) {
      if (args.size() != 1) refuse("{}: of {} operands", name, args.size());
      return apply_row({op, Sign::kUnsigned, How::kPlain}, {args[0]}, c);
    };
    const auto need = [&](size_t n) {
      const bool fits = args.size() == n && std::all_of(args.begin(), args.end(), [&](auto& v) {
                          return v.type == kir::Type{result[c]} && is_float(v.type.prim);
                        });
      if (!fits) refuse("{}: operands that do not fit", name);
    };
    const auto floating = [&](double x) { return Value(PrimValue::of_float(result[c], x)); };
    const auto one = [&](ScalarOp op, const Value& x) { return k.prim(op, {x}); };
    const bool unary = number == GLSLstd450Fract || number == GLSLstd450Exp2 ||
                       number == GLSLstd450Radians || number == GLSLstd450Degrees;
    if (unary) need(1);
    switch (number) {
      case GLSLstd450FClamp:
      case GLSLstd450NClamp: return clamp(Sign::kAsIs);
      case GLSLstd450UClamp: return clamp(Sign::kUnsigned);
      case GLSLstd450SClamp: return clamp(Sign::kSigned);
      case GLSLstd450Fract: return k.sub(args[0], one(ScalarOp::kFloor, args[0]));
      case GLSLstd450Exp2: return k.prim(ScalarOp::kPow, {floating(2), args[0]});
      case GLSLstd450Radians: return k.mul(args[0], floating(std::numbers::pi / 180));
      case GLSLstd450Degrees: return k.mul(args[0], floating(180 / std::numbers::pi));
      case GLSLstd450FMix:
        need(3);
        return k.add(k.mul(args[0], k.sub(floating(1), args[2])), k.mul(args[1], args[2]));
      case GLSLstd450Step:
        need(2);
        return k.select(k.lt(args[1], args[0]), floating(0), floating(1));
      case GLSLstd450FindUMsb: {  // -1 of 0, which has 32 zeros in front
        const Value zeros = find(ScalarOp::kClz);
        return k.sub(Builder::same_type(zeros, 8 * prim_size(args[0].type.prim) - 1), zeros);
      }
      case GLSLstd450FindILsb: {
        const Value zeros = find(ScalarOp::kCtz);
        return k.select(k.eq(args[0], 0), Builder::same_type(zeros, -1), zeros);
      }
      default: refuse("{} is not read", name);
    }
  });
}

}  // namespace kenaz::spirv

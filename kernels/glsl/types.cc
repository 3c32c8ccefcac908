#include "kernels/glsl/types.h"

#include <fmt/format.h>

#include <cmath>

#include "protocol/base/check.h"

namespace kenaz::glsl {

std::string glsl_type(PrimType t) {
  switch (t) {
    case PrimType::kI8: return "int8_t";
    case PrimType::kI16: return "int16_t";
    case PrimType::kI32: return "int";
    case PrimType::kI64: return "int64_t";
    case PrimType::kU8: return "uint8_t";
    case PrimType::kU16: return "uint16_t";
    case PrimType::kU32: return "uint";
    case PrimType::kU64: return "uint64_t";
    case PrimType::kF16: return "float16_t";
    case PrimType::kF32: return "float";
    case PrimType::kF64: return "double";
    case PrimType::kBool: return "bool";
  }
  UNREACHABLE("primitive type");
}

std::string glsl_unsigned(PrimType t) {
  switch (prim_size(t)) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint";
    default: return "uint64_t";
  }
}

namespace {
std::string float_literal(const PrimValue& v) {
  const double d = v.as_double();
  if (d == 0) {  // or its negative
    return from_slot(v.type,
                     v.bits == 0 ? "zero_bits" : fmt::format("(zero_bits | 0x{:x}ul)", v.bits));
  }
  const bool plain = std::isfinite(d) && std::fabs(d) > 1e-30 && std::fabs(d) < 1e30;
  if (v.type == PrimType::kF16) {
    return plain && d == std::floor(d) && std::fabs(d) < 1000
               ? fmt::format("float16_t({:.1f})", d)
               : fmt::format("uint16BitsToFloat16(uint16_t({}))", v.bits);
  }
  if (plain && d == std::floor(d) && std::fabs(d) < 1e6) {
    const std::string s = fmt::format("{:.1f}{}", d, v.type == PrimType::kF64 ? "lf" : "");
    return d < 0 ? "(" + s + ")" : s;
  }
  if (v.type == PrimType::kF32) return fmt::format("uintBitsToFloat(0x{:x}u)", v.bits);
  return fmt::format("uint64BitsToDouble(0x{:x}ul)", v.bits);
}
}  // namespace

std::string literal(const PrimValue& v) {
  switch (v.type) {
    case PrimType::kI8: return fmt::format("int8_t({})", v.as_i64());
    case PrimType::kI16: return fmt::format("int16_t({})", v.as_i64());
    case PrimType::kU8: return fmt::format("uint8_t({})", v.bits);
    case PrimType::kU16: return fmt::format("uint16_t({})", v.bits);
    case PrimType::kU32: return fmt::format("{}u", v.bits);
    case PrimType::kU64: return fmt::format("{}ul", v.bits);
    case PrimType::kI32:
      if (v.as_i64() == INT32_MIN) return "int(0x80000000u)";
      return v.as_i64() < 0 ? fmt::format("({})", v.as_i64()) : fmt::format("{}", v.as_i64());
    case PrimType::kI64:
      if (v.as_i64() == INT64_MIN) return "int64_t(0x8000000000000000ul)";
      return v.as_i64() < 0 ? fmt::format("({}l)", v.as_i64()) : fmt::format("{}l", v.as_i64());
    case PrimType::kBool: return v.as_bool() ? "true" : "false";
    default: return float_literal(v);
  }
}

namespace {
/// Buffer reference type of a primitive type. Bools lie in memory as bytes.
std::string ref_type(PrimType t) {
  switch (t) {
    case PrimType::kI8: return "I8";
    case PrimType::kI16: return "I16";
    case PrimType::kI32: return "I32";
    case PrimType::kI64: return "I64";
    case PrimType::kU8: return "U8";
    case PrimType::kU16: return "U16";
    case PrimType::kU32: return "U32";
    case PrimType::kU64: return "U64";
    case PrimType::kF16: return "F16";
    case PrimType::kF32: return "F32";
    case PrimType::kF64: return "F64";
    case PrimType::kBool: return "U8";
  }
  UNREACHABLE("primitive type");
}
}  // namespace

std::string load(PrimType t, const std::string& address) {
  if (t == PrimType::kBool) return fmt::format("(U8({}).v != uint8_t(0))", address);
  return fmt::format("{}({}).v", ref_type(t), address);
}

std::string store(PrimType t, const std::string& address, const std::string& value) {
  if (t == PrimType::kBool) return fmt::format("U8({}).v = uint8_t({});", address, value);
  return fmt::format("{}({}).v = {};", ref_type(t), address, value);
}

std::string from_slot(PrimType t, const std::string& slot) {
  if (is_narrow(t)) return wrap(t, slot);
  switch (t) {
    case PrimType::kU64: return slot;
    case PrimType::kF16: return fmt::format("uint16BitsToFloat16(uint16_t({}))", slot);
    case PrimType::kF32: return fmt::format("uintBitsToFloat(uint({}))", slot);
    case PrimType::kF64: return fmt::format("uint64BitsToDouble({})", slot);
    case PrimType::kBool: return fmt::format("({} != 0ul)", slot);
    default: return fmt::format("{}({})", glsl_type(t), slot);
  }
}

std::string opaque(PrimType t, const std::string& value) {
  switch (t) {
    case PrimType::kF16:
      return fmt::format("uint16BitsToFloat16(float16BitsToUint16({}) | uint16_t(zero_bits))",
                         value);
    case PrimType::kF32:
      return fmt::format("uintBitsToFloat(floatBitsToUint({}) | uint(zero_bits))", value);
    case PrimType::kF64:
      return fmt::format("uint64BitsToDouble(doubleBitsToUint64({}) | zero_bits)", value);
    default: return value;
  }
}

std::string narrowed(PrimType t, const std::string& value) {
  const std::string converted = fmt::format("{}({})", glsl_type(t), value);
  return t == PrimType::kF16 ? opaque(t, converted) : converted;
}

std::string negated(PrimType t, const std::string& value) {
  switch (t) {
    case PrimType::kF16:
      return fmt::format(
          "uint16BitsToFloat16(float16BitsToUint16({}) ^ uint16_t(zero_bits | 0x8000ul))", value);
    case PrimType::kF32:
      return fmt::format("uintBitsToFloat(floatBitsToUint({}) ^ (uint(zero_bits) | 0x80000000u))",
                         value);
    case PrimType::kF64:
      return fmt::format(
          "uint64BitsToDouble(doubleBitsToUint64({}) ^ (zero_bits | 0x8000000000000000ul))", value);
    default: UNREACHABLE("negation by the sign bit");
  }
}

std::string untellable(PrimType t, const std::string& value) {
  return fmt::format("({0} | {1}(zero_bits))", value, glsl_type(t));
}

std::string unseen(PrimType t, const std::string& value) {
  return fmt::format("({0} | {1}(no_bits))", value, glsl_type(t));
}

bool is_narrow(PrimType t) { return is_integer(t) && prim_size(t) < 4; }

std::string widened(PrimType t, const std::string& value) {
  const char* wide = prim_kind(t) == PrimKind::kUnsigned ? "uint" : "int";
  return fmt::format("{}({})", wide, value);
}

std::string wrap(PrimType t, const std::string& value) {
  return fmt::format("{}(wrap_{}({}))", glsl_type(t), prim_name(t), widened(t, value));
}

std::string wrap_functions() {
  return "int wrap_i8(int x) { int k = 24 | int(zero_bits); return (x << k) >> k; }\n"
         "int wrap_i16(int x) { int k = 16 | int(zero_bits); return (x << k) >> k; }\n"
         "uint wrap_u8(uint x) { return x & (0xffu | uint(zero_bits)); }\n"
         "uint wrap_u16(uint x) { return x & (0xffffu | uint(zero_bits)); }\n";
}

std::string preamble() {
  std::string s =
      "#version 460\n"
      "#extension GL_EXT_buffer_reference : require\n"
      "#extension GL_EXT_buffer_reference2 : require\n"
      "#extension GL_EXT_scalar_block_layout : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types : require\n"
      "#extension GL_EXT_control_flow_attributes : enable\n";
  for (PrimType t : {PrimType::kI8, PrimType::kI16, PrimType::kI32, PrimType::kI64, PrimType::kU8,
                     PrimType::kU16, PrimType::kU32, PrimType::kU64, PrimType::kF16, PrimType::kF32,
                     PrimType::kF64}) {
    s += fmt::format(
        "layout(buffer_reference, scalar, buffer_reference_align = {}) buffer {} {{ {} v; }};\n",
        prim_size(t), ref_type(t), glsl_type(t));
  }
  s += "uint64_t zero_bits;\n" + wrap_functions();
  // A word that may change while the kernel runs.
  s += "layout(buffer_reference, scalar, buffer_reference_align = 4) volatile buffer Stop { uint "
       "v; };\n";
  return s;
}

}  // namespace kenaz::glsl

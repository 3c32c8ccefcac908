// The primitive types of Futhark, and a value of one of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace kenaz {

enum class PrimType : uint8_t {
#define PRIM(e, name, bytes, kind) e,
#include "protocol/prim_type.def"
#undef PRIM
};
inline constexpr int kPrimTypeCount = 12;

enum class PrimKind : uint8_t { kSigned, kUnsigned, kFloat, kBool };

std::string_view prim_name(PrimType t);
/// Size in bytes, in memory, in files and on the device (bool is one byte everywhere).
int prim_size(PrimType t);
PrimKind prim_kind(PrimType t);
std::optional<PrimType> prim_from_name(std::string_view name);
inline bool is_integer(PrimType t) { return t <= PrimType::kU64; }
inline bool is_float(PrimType t) { return prim_kind(t) == PrimKind::kFloat; }
inline int prim_bits(PrimType t) { return t == PrimType::kBool ? 1 : 8 * prim_size(t); }

/// A scalar. `bits` holds the value's own bits, zero-extended to 64 (so an i8 of -1 is 0xff, a f32
/// its IEEE pattern, true is 1). Equality is therefore bitwise: a NaN equals itself.
struct PrimValue {
  PrimType type = PrimType::kI32;
  uint64_t bits = 0;

  static PrimValue of_int(PrimType t, int64_t v);   // truncates to the width of t
  static PrimValue of_float(PrimType t, double v);  // rounds to f16, f32 or f64
  static PrimValue of_bool(bool v) { return {PrimType::kBool, v ? 1u : 0u}; }
  static PrimValue i32(int32_t v) { return of_int(PrimType::kI32, v); }
  static PrimValue i64(int64_t v) { return of_int(PrimType::kI64, v); }
  static PrimValue f32(float v);
  static PrimValue f64(double v);

  int64_t as_i64() const;  // sign- or zero-extended by type; bool gives 0 or 1; integers only
  uint64_t as_u64() const { return bits; }
  double as_double() const;  // exact value of a float; integers are converted
  bool as_bool() const { return bits != 0; }

  friend bool operator==(const PrimValue&, const PrimValue&) = default;
};

/// IEEE binary16 <-> binary32, round to nearest even; a NaN stays one, its payload may change.
float half_to_float(uint16_t h);
uint16_t float_to_half(float f);

}  // namespace kenaz

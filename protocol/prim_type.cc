#include "protocol/prim_type.h"

#include <bit>
#include <cmath>

#include "protocol/base/check.h"

namespace kenaz {
namespace {

struct PrimInfo {
  std::string_view name;
  int bytes;
  PrimKind kind;
};

constexpr PrimInfo kInfo[] = {
#define PRIM(e, name, bytes, kind) {name, bytes, PrimKind::kind},
#include "protocol/prim_type.def"
#undef PRIM
};
static_assert(std::size(kInfo) == kPrimTypeCount);

const PrimInfo& info(PrimType t) {
  CHECK(static_cast<int>(t) < kPrimTypeCount);
  return kInfo[static_cast<int>(t)];
}

uint64_t mask(PrimType t) {
  const int bits = prim_bits(t);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// Converts directly from double, since a detour through float would round twice.
uint16_t double_to_half(double d) {
  const uint64_t bits = std::bit_cast<uint64_t>(d);
  const auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000u);
  if (std::isnan(d)) return sign | 0x7e00u;
  const double a = std::fabs(d);
  if (a >= 65520.0) return sign | 0x7c00u;  // the first that rounds to infinity
  if (a < 0x1p-25) return sign;             // below half of the smallest subnormal
  int exponent = std::ilogb(a);
  if (exponent < -14) exponent = -14;  // subnormals share the smallest exponent
  // The significand in units of the last place, exact: at most 11 bits before the point.
  const double scaled = std::ldexp(a, 10 - exponent);
  const double floor = std::floor(scaled);
  auto units = static_cast<uint32_t>(floor);
  const double rest = scaled - floor;
  if (rest > 0.5 || (rest == 0.5 && (units & 1u))) ++units;
  // A carry out of the significand moves into the exponent field by itself, as IEEE intends.
  const uint32_t biased =
      units < 0x400u && exponent == -14 ? 0u : static_cast<uint32_t>(exponent + 15);
  if (biased == 0) return static_cast<uint16_t>(sign | units);
  return static_cast<uint16_t>(sign | ((biased << 10) + (units - 0x400u)));
}

}  // namespace

std::string_view prim_name(PrimType t) { return info(t).name; }
int prim_size(PrimType t) { return info(t).bytes; }
PrimKind prim_kind(PrimType t) { return info(t).kind; }

std::optional<PrimType> prim_from_name(std::string_view name) {
  for (int i = 0; i < kPrimTypeCount; ++i) {
    if (kInfo[i].name == name) return static_cast<PrimType>(i);
  }
  return std::nullopt;
}

PrimValue PrimValue::of_int(PrimType t, int64_t v) {
  CHECK(is_integer(t));
  return {t, static_cast<uint64_t>(v) & mask(t)};
}

PrimValue PrimValue::of_float(PrimType t, double v) {
  switch (t) {
    case PrimType::kF16: return {t, double_to_half(v)};
    case PrimType::kF32: return f32(static_cast<float>(v));
    case PrimType::kF64: return f64(v);
    default: UNREACHABLE("of_float at a type that is no float");
  }
}

PrimValue PrimValue::f32(float v) { return {PrimType::kF32, std::bit_cast<uint32_t>(v)}; }
PrimValue PrimValue::f64(double v) { return {PrimType::kF64, std::bit_cast<uint64_t>(v)}; }

int64_t PrimValue::as_i64() const {
  switch (type) {
    case PrimType::kI8: return static_cast<int8_t>(bits);
    case PrimType::kI16: return static_cast<int16_t>(bits);
    case PrimType::kI32: return static_cast<int32_t>(bits);
    default: return static_cast<int64_t>(bits);
  }
}

double PrimValue::as_double() const {
  switch (type) {
    case PrimType::kF16: return half_to_float(static_cast<uint16_t>(bits));
    case PrimType::kF32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case PrimType::kF64: return std::bit_cast<double>(bits);
    case PrimType::kU64: return static_cast<double>(bits);
    default: return static_cast<double>(as_i64());
  }
}

float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  const uint32_t fraction = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  }
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float f) { return double_to_half(f); }

}  // namespace kenaz

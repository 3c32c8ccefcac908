#include "kernels/futhark/syntax/literals.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "protocol/base/utf8.h"

namespace kenaz::syntax {
namespace {

std::string without_underscores(std::string_view s) {
  std::string r;
  for (char c : s) {
    if (c != '_') r += c;
  }
  return r;
}

std::optional<PrimType> take_suffix(std::string_view& s, bool is_hex_integer) {
  static constexpr std::array<std::pair<std::string_view, PrimType>, 11> kSuffixes = {{
      {"i8", PrimType::kI8},
      {"i16", PrimType::kI16},
      {"i32", PrimType::kI32},
      {"i64", PrimType::kI64},
      {"u8", PrimType::kU8},
      {"u16", PrimType::kU16},
      {"u32", PrimType::kU32},
      {"u64", PrimType::kU64},
      {"f16", PrimType::kF16},
      {"f32", PrimType::kF32},
      {"f64", PrimType::kF64},
  }};
  for (const auto& [text, type] : kSuffixes) {
    if (is_hex_integer && text[0] == 'f') continue;  // 0x1f32 is a number without suffix
    if (s.size() > text.size() && s.ends_with(text)) {
      s.remove_suffix(text.size());
      return type;
    }
  }
  return std::nullopt;
}

struct Wide {
  uint64_t value = 0;
  bool overflow = false;
  void push(uint64_t base, uint64_t digit) {
    overflow |= __builtin_mul_overflow(value, base, &value);
    overflow |= __builtin_add_overflow(value, digit, &value);
  }
  void add(uint64_t v) { overflow |= __builtin_add_overflow(value, v, &value); }
};

Wide roman(std::string_view s) {
  static constexpr std::array<std::pair<std::string_view, int>, 13> kNumerals = {{
      {"M", 1000},
      {"CM", 900},
      {"D", 500},
      {"CD", 400},
      {"C", 100},
      {"XC", 90},
      {"L", 50},
      {"XL", 40},
      {"X", 10},
      {"IX", 9},
      {"V", 5},
      {"IV", 4},
      {"I", 1},
  }};
  Wide w;
  while (!s.empty()) {
    // The longer numeral wins: IV before I.
    std::pair<std::string_view, int> best{"", 0};
    for (const auto& n : kNumerals) {
      if (s.starts_with(n.first) && n.first.size() > best.first.size()) best = n;
    }
    w.add(static_cast<uint64_t>(best.second));
    s.remove_prefix(std::max<size_t>(1, best.first.size()));
  }
  return w;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Wide integer(std::string_view digits, uint64_t base) {
  Wide w;
  for (char c : digits) {
    if (c != '_') w.push(base, static_cast<uint64_t>(digit_value(c)));
  }
  return w;
}

}  // namespace

std::optional<Literal> numeric_literal(std::string_view text) {
  const char second = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : ' ';
  const bool hex = second == 'x', bin = second == 'b', rom = second == 'r';
  const bool hex_real = hex && text.find('.') != text.npos;
  const auto suffix = take_suffix(text, hex && !hex_real);
  const bool real = hex_real || (suffix && is_float(*suffix)) ||
                    (!hex && !bin && !rom && text.find_first_of(".eE") != text.npos);
  const std::string plain = without_underscores(text);
  if (real) {
    // Each width is read directly from the digits, so that it is rounded once.
    if (suffix == PrimType::kF32)
      return PrimLit{PrimValue::f32(std::strtof(plain.c_str(), nullptr))};
    const double d = std::strtod(plain.c_str(), nullptr);
    if (suffix) return PrimLit{PrimValue::of_float(*suffix, d)};
    return FloatLit{d};
  }
  Wide w;
  if (rom) {
    w = roman(std::string_view(plain).substr(2));
  } else if (hex || bin) {
    w = integer(std::string_view(plain).substr(2), hex ? 16 : 2);
  } else {
    w = integer(plain, 10);
  }
  if (suffix) return PrimLit{PrimValue::of_int(*suffix, static_cast<int64_t>(w.value))};
  if (w.overflow) return std::nullopt;
  return IntLit{w.value, false};
}

namespace {

/// Digits of a numeric escape; nothing if there are none or the value is no code point.
std::optional<uint32_t> numeric_escape(std::string_view& s, int base) {
  uint32_t value = 0;
  bool any = false;
  while (!s.empty()) {
    const int d = digit_value(s[0]);
    if (d < 0 || d >= base) break;
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(d);
    if (value > 0x10ffff) return std::nullopt;
    any = true;
    s.remove_prefix(1);
  }
  return any ? std::optional(value) : std::nullopt;
}

/// `s` starts behind the backslash.
bool append_escape(std::string& out, std::string_view& s) {
  static constexpr std::string_view kLetters = "abfnrtv\\'\"";
  static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"";
  if (s.empty()) return false;
  const char c = s[0];
  if (c == '&') {  // stands for nothing: ends a numeric escape
    s.remove_prefix(1);
    return true;
  }
  if (const size_t i = kLetters.find(c); i != kLetters.npos) {
    out += kValues[i];
    s.remove_prefix(1);
    return true;
  }
  int base = 10;
  if (c == 'x' || c == 'X' || c == 'o' || c == 'O') {
    base = (c | 0x20) == 'x' ? 16 : 8;
    s.remove_prefix(1);
  }
  const auto value = numeric_escape(s, base);
  if (!value) return false;
  append_utf8(out, *value);
  return true;
}

}  // namespace

std::optional<std::string> unescape(std::string_view inside) {
  std::string out;
  while (!inside.empty()) {
    if (inside[0] == '\\') {
      inside.remove_prefix(1);
      if (!append_escape(out, inside)) return std::nullopt;
      continue;
    }
    const auto c = take_code_point(inside);
    if (!c) return std::nullopt;
    append_utf8(out, *c);
  }
  return out;
}

}  // namespace kenaz::syntax

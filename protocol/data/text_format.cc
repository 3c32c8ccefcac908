#include "protocol/data/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

namespace kenaz::data {
namespace {

bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_token_char(int c) { return c == '_' || c == '.' || (c > 0 && c < 128 && std::isalnum(c)); }

// ---- scalars

struct Token {
  bool negative = false;
  std::string digits;  // without sign, underscores, suffix
  std::optional<PrimType> suffix;
  std::string_view text;  // as written
};

tl::unexpected<Error> not_a_value(std::string_view token) {
  return bad_request(fmt::format("\"{}\" is not a value", token.substr(0, 60)));
}

/// Splits "-0x1p3f32" into sign, digits and suffix. In hexadecimal digits an f32 is digits, unless
/// an exponent came before.
Token split(std::string_view token) {
  Token t;
  t.text = token;
  if (token.starts_with('-')) {
    t.negative = true;
    token.remove_prefix(1);
  }
  const bool hex = token.starts_with("0x") || token.starts_with("0X");
  for (int i = 0; i < kPrimTypeCount; ++i) {
    const auto type = static_cast<PrimType>(i);
    const auto name = prim_name(type);
    if (type == PrimType::kBool || token.size() <= name.size() || !token.ends_with(name)) continue;
    if (hex && is_float(type) && token.find_first_of("pP") == std::string_view::npos) continue;
    t.suffix = type;
    token.remove_suffix(name.size());
    break;
  }
  for (char c : token) {
    if (c != '_') t.digits += c;
  }
  return t;
}

/// f32.nan, -f64.inf.
std::optional<PrimValue> special(std::string_view token) {
  const bool negative = token.starts_with('-');
  if (negative) token.remove_prefix(1);
  if (token.size() != 7 || token[3] != '.') return std::nullopt;
  const auto type = prim_from_name(token.substr(0, 3));
  if (!type || !is_float(*type)) return std::nullopt;
  const auto what = token.substr(4);
  if (what == "inf") {
    const double inf = std::numeric_limits<double>::infinity();
    return PrimValue::of_float(*type, negative ? -inf : inf);
  }
  if (what != "nan") return std::nullopt;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return PrimValue::of_float(*type, negative ? -nan : nan);
}

Result<PrimValue> make_int(const Token& t, PrimType type) {
  std::string_view digits = t.digits;
  unsigned base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    const char c = digits[1];
    if (c == 'x' || c == 'X') base = 16;
    if (c == 'b' || c == 'B') base = 2;
    if (base != 10) digits.remove_prefix(2);
  }
  if (digits.empty()) return not_a_value(t.text);
  unsigned __int128 n = 0;
  for (char c : digits) {
    unsigned digit = 99;
    if (is_digit(c)) digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base) return not_a_value(t.text);
    if (n >> 65 == 0) n = n * base + digit;  // beyond that it is too large anyway
  }
  // Hexadecimal and binary digits may also spell the bit pattern of a negative number.
  const int bits = prim_bits(type);
  const bool is_signed = prim_kind(type) == PrimKind::kSigned;
  const auto one = static_cast<unsigned __int128>(1);
  unsigned __int128 limit = (one << (is_signed && base == 10 ? bits - 1 : bits)) - 1;
  if (t.negative) limit = one << (bits - 1);
  // A suffix gives the bits of that type: 255i8 is -1i8, as in Futhark's own readers.
  if (t.suffix) limit = (one << 64) - 1;
  if (n > limit) {
    return bad_request(fmt::format("{} does not fit in {}", t.text, prim_name(type)));
  }
  const auto low = static_cast<uint64_t>(n);
  return PrimValue::of_int(type, static_cast<int64_t>(t.negative ? 0 - low : low));
}

Result<PrimValue> make_float(const Token& t, PrimType type) {
  std::string text = (t.negative ? "-" : "") + t.digits;
  if (!is_digit(t.digits.empty() ? 0 : t.digits[0])) return not_a_value(t.text);
  char* end = nullptr;
  PrimValue v;
  if (type == PrimType::kF32) {
    v = PrimValue::f32(std::strtof(text.c_str(), &end));
  } else {
    v = PrimValue::of_float(type, std::strtod(text.c_str(), &end));
  }
  if (end != text.c_str() + text.size()) return not_a_value(t.text);
  return v;
}

bool looks_like_float(const Token& t) {
  if (t.digits.starts_with("0x") || t.digits.starts_with("0X")) {
    return t.digits.find_first_of(".pP") != std::string::npos;
  }
  return t.digits.find_first_of(".eE") != std::string::npos;
}

tl::unexpected<Error> wrong_type(std::string_view text, PrimType expected) {
  return bad_request(fmt::format("expected a value of type {}, but found {}", prim_name(expected),
                                 text.substr(0, 60)));
}

// ---- the reader

class Reader {
 public:
  Reader(ByteSource& source, std::optional<LeafType> expected)
      : source_(source), expected_(expected) {
    if (expected) value_.type = expected->prim, fixed_ = true;
  }

  Result<Value> read() {
    skip_space(source_);
    start_ = source_.position();
    Status status = element(0);
    if (status && expected_ && depth_of_scalars_ != expected_->rank) {
      status = bad_request(fmt::format("expected an array of {} dimensions, but found {}",
                                       expected_->rank, std::max(0, depth_of_scalars_)));
    }
    if (!status) {
      Error e = std::move(status).error();
      e.message = fmt::format("{}: {}", start_, e.message);
      return tl::make_unexpected(std::move(e));
    }
    return std::move(value_);
  }

 private:
  Status element(int depth) {
    skip_space(source_);
    const int c = source_.peek();
    start_ = source_.position();
    if (c == '[') return array(depth);
    if (c == '"') return string(depth);
    if (c == -1) return bad_request("the text ends where a value is expected");
    const std::string token = read_token();
    if (token == "empty") return empty(depth);
    KENAZ_TRY(at_depth(depth));
    return scalar(token);
  }

  Status scalar(std::string_view token) {
    if (token.size() > kLongestToken) {
      return bad_request(
          fmt::format("a word of more than {} characters is no value", kLongestToken));
    }
    auto v = parse_scalar(token, fixed_ ? std::optional(value_.type) : std::nullopt);
    if (!v) return tl::make_unexpected(std::move(v).error());
    value_.type = v->type;
    fixed_ = true;
    KENAZ_TRY(make_room(static_cast<size_t>(prim_size(v->type))));
    append(value_, *v);
    return {};
  }

  /// For so many bytes more, if the source lets the value have them.
  Status make_room(size_t bytes) {
    constexpr size_t kFirst = 64;
    auto& have = value_.bytes;
    if (have.capacity() - have.size() >= bytes) return {};
    const size_t next = std::max(kFirst, 2 * have.capacity());
    if (!source_.may_take(static_cast<int64_t>(next))) {
      return fail(ErrorKind::kOutOfMemory, "no memory for a value in text form");
    }
    have.reserve(next);
    return {};
  }

  /// All scalars must be nested equally deep; that depth is the rank.
  Status at_depth(int depth) {
    if (depth_of_scalars_ < 0) depth_of_scalars_ = depth;
    if (depth_of_scalars_ == depth) return {};
    return bad_request("irregular array: scalars and arrays, or arrays of different ranks, mixed");
  }

  /// Notes the number of elements of a row that ends, `depth` levels inside.
  Status row_length(int depth, int64_t n) {
    auto& shape = value_.shape;
    if (shape.size() <= static_cast<size_t>(depth))
      shape.resize(static_cast<size_t>(depth) + 1, -1);
    int64_t& known = shape[static_cast<size_t>(depth)];
    if (known < 0) known = n;
    if (known == n) return {};
    return bad_request(
        fmt::format("irregular array: a row of {} elements after one of {}", n, known));
  }

  Status array(int depth) {
    if (static_cast<size_t>(depth) >= kMaxRank) return bad_request("arrays nested too deeply");
    const std::string start = source_.position();
    source_.get();
    int64_t n = 0;
    for (skip_space(source_); source_.peek() != ']'; skip_space(source_)) {
      KENAZ_TRY(element(depth + 1));
      ++n;
      skip_space(source_);
      const int c = source_.peek();
      if (c == ',') {
        source_.get();
      } else if (c != ']') {
        start_ = source_.position();
        return bad_request(c < 0 ? "the text ends inside an array"
                                 : "expected \",\" or \"]\" in an array");
      }
    }
    source_.get();
    start_ = start;
    if (n == 0) KENAZ_TRY(empty_brackets(depth));
    return row_length(depth, n);
  }

  /// Reads [], which is valid only if the type is known; the inner dimensions are 0.
  Status empty_brackets(int depth) {
    if (!expected_) return bad_request("the type of [] is not known; write empty([0]i32)");
    for (int d = depth + 1; d < expected_->rank; ++d) KENAZ_TRY(row_length(d, 0));
    return at_depth(std::max(expected_->rank, depth + 1));
  }

  Status string(int depth) {
    if (!fixed_) value_.type = PrimType::kU8, fixed_ = true;
    if (value_.type != PrimType::kU8) return wrong_type("a string", value_.type);
    if (static_cast<size_t>(depth) >= kMaxRank) return bad_request("arrays nested too deeply");
    KENAZ_TRY(at_depth(depth + 1));
    source_.get();
    int64_t n = 0;
    for (int c = source_.get(); c != '"'; c = source_.get(), ++n) {
      if (c < 0) return bad_request("the text ends inside a string");
      if (c == '\\') {
        KENAZ_ASSIGN(c, escape());
      }
      KENAZ_TRY(make_room(1));
      value_.bytes.push_back(static_cast<std::byte>(c));
    }
    return row_length(depth, n);
  }

  Result<int> escape() {
    const int c = source_.get();
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '\\':
      case '"':
      case '\'': return c;
      default: break;
    }
    if (c != 'x' && !is_digit(c)) return bad_request("unknown escape in a string");
    const int base = c == 'x' ? 16 : 10;
    int n = c == 'x' ? 0 : c - '0';
    while (std::isxdigit(source_.peek()) && (base == 16 || is_digit(source_.peek()))) {
      const int d = source_.get();
      n = n * base + (is_digit(d) ? d - '0' : (d | 0x20) - 'a' + 10);
      if (n > 255) return bad_request("an escape in a string is larger than a byte");
    }
    return n;
  }

  /// Reads the rest of empty([0][2]i32) after the word "empty".
  Status empty(int depth) {
    skip_space(source_);
    if (source_.get() != '(') return bad_request("expected \"(\" after empty");
    std::vector<int64_t> dims;
    for (skip_space(source_); source_.peek() == '['; skip_space(source_)) {
      source_.get();
      skip_space(source_);
      KENAZ_ASSIGN(const PrimValue d, parse_scalar(read_token(), PrimType::kI64));
      dims.push_back(d.as_i64());
      skip_space(source_);
      if (source_.get() != ']') return bad_request("expected \"]\" in the dimensions of empty");
      if (dims.size() > kMaxRank) return bad_request("too many dimensions");
    }
    const std::string name = read_token();
    skip_space(source_);
    const auto type = prim_from_name(name);
    if (!type || source_.get() != ')') return bad_request("expected a type and \")\" in empty(..)");
    if (fixed_ && *type != value_.type) return wrong_type(name, value_.type);
    KENAZ_ASSIGN(const int64_t bytes, checked_bytes(*type, dims));
    if (bytes != 0 || dims.empty()) return bad_request("empty needs a dimension that is 0");
    value_.type = *type;
    fixed_ = true;
    for (size_t i = 0; i < dims.size(); ++i) {
      KENAZ_TRY(row_length(depth + static_cast<int>(i), dims[i]));
    }
    return at_depth(depth + static_cast<int>(dims.size()));
  }

  std::string read_token() {
    std::string token;
    if (source_.peek() == '-') token += static_cast<char>(source_.get());
    bool hex = false;
    while (token.size() <= kLongestToken) {
      const int c = source_.peek();
      const char last = token.empty() ? '\0' : static_cast<char>(token.back() | 0x20);
      const bool sign = (c == '-' || c == '+') && (last == 'p' || (last == 'e' && !hex));
      if (!sign && !is_token_char(c)) break;
      if (c == 'x' || c == 'X') hex = true;
      token += static_cast<char>(source_.get());
    }
    if (token.empty() && source_.peek() >= 0) token += static_cast<char>(source_.get());
    return token;
  }

  ByteSource& source_;
  std::optional<LeafType> expected_;
  Value value_;
  bool fixed_ = false;  // value_.type is known
  int depth_of_scalars_ = -1;
  std::string start_;
};

void print_rows(const Value& v, size_t depth, int64_t& next, std::string& out) {
  if (depth == v.shape.size()) {
    out += scalar_text(v.at(next++));
    return;
  }
  out += '[';
  for (int64_t i = 0; i < v.shape[depth]; ++i) {
    if (i != 0) out += ", ";
    print_rows(v, depth + 1, next, out);
  }
  out += ']';
}

}  // namespace

std::string scalar_text(PrimValue v) {
  const auto name = prim_name(v.type);
  switch (prim_kind(v.type)) {
    case PrimKind::kBool: return v.as_bool() ? "true" : "false";
    case PrimKind::kSigned: return fmt::format("{}{}", v.as_i64(), name);
    case PrimKind::kUnsigned: return fmt::format("{}{}", v.as_u64(), name);
    case PrimKind::kFloat: break;
  }
  const double d = v.as_double();
  if (std::isnan(d)) return fmt::format("{}.nan", name);
  if (std::isinf(d)) return fmt::format("{}{}.inf", d < 0 ? "-" : "", name);
  if (v.type == PrimType::kF64) return fmt::format("{:.17g}{}", d, name);
  return fmt::format("{:.9g}{}", d, name);
}

std::string to_text(const Value& value) {
  if (!value.shape.empty() && value.count() == 0) {
    return fmt::format("empty({}{})", shape_text(value.shape), prim_name(value.type));
  }
  std::string out;
  int64_t next = 0;
  print_rows(value, 0, next, out);
  return out;
}

void skip_space(ByteSource& source) {
  while (true) {
    const int c = source.peek();
    if (is_space(c)) {
      source.get();
    } else if (c == '-' && source.peek_second() == '-') {
      while (source.peek() >= 0 && source.peek() != '\n') source.get();
    } else {
      return;
    }
  }
}

Result<Value> read_text(ByteSource& source, std::optional<LeafType> expected) {
  try {
    return Reader(source, expected).read();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kOutOfMemory, "no memory for a value in text form");
  }
}

Result<PrimValue> parse_scalar(std::string_view token, std::optional<PrimType> expected) {
  if (token == "true" || token == "false") {
    if (expected.value_or(PrimType::kBool) != PrimType::kBool) return wrong_type(token, *expected);
    return PrimValue::of_bool(token == "true");
  }
  if (const auto v = special(token)) {
    if (expected.value_or(v->type) != v->type) return wrong_type(token, *expected);
    return *v;
  }
  const Token t = split(token);
  if (t.digits.empty() || !is_digit(t.digits[0])) return not_a_value(token);
  const bool floating = looks_like_float(t);
  PrimType type = floating ? PrimType::kF64 : PrimType::kI32;
  if (expected) type = *expected;
  if (t.suffix) type = *t.suffix;
  if (expected && type != *expected) return wrong_type(token, *expected);
  if (is_float(type)) return make_float(t, type);
  if (type == PrimType::kBool || floating) return wrong_type(token, type);
  return make_int(t, type);
}

}  // namespace kenaz::data

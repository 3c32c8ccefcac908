#include "client/bench/sizes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

namespace kenaz::bench {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Goes through a name.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  void skip() { ++at_; }

  /// Digits, with underscores between them.
  double digits() {
    double value = 0;
    while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
      if (peek() != '_') value = 10 * value + (peek() - '0');
      skip();
    }
    return value;
  }

  /// Digits, and what may stand behind them: a power, an exponent, k, M or G, a type.
  double number() {
    double value = digits();
    if (peek() == '^' && is_digit(peek(1))) {
      skip();
      return std::pow(value, digits());
    }
    if (peek() == 'e' && is_digit(peek(1))) {
      skip();
      return value * std::pow(10, digits());
    }
    constexpr std::string_view kSuffixes = "kMG";
    const char suffix = peek() == 'K' ? 'k' : peek();
    if (const size_t k = kSuffixes.find(suffix);
        suffix != 0 && k != std::string_view::npos && !is_letter(peek(1))) {
      skip();
      return value * std::pow(1000, static_cast<double>(k + 1));
    }
    if ((peek() == 'i' || peek() == 'u' || peek() == 'f') && is_digit(peek(1))) {
      skip();
      digits();
    }
    return value;
  }

  /// "[10][20]" with a letter behind it: the product. None: something else; nothing is read then.
  std::optional<double> dims() {
    const size_t begin = at_;
    double product = 1;
    while (peek() == '[' && is_digit(peek(1))) {
      skip();
      product *= digits();
      if (peek() != ']') break;
      skip();
    }
    if (at_ > begin && text_[at_ - 1] == ']' && is_letter(peek())) return product;
    at_ = begin;
    return std::nullopt;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

/// `#3 ("10i64")` without what is no part of the values.
std::string_view values_in(std::string_view name) {
  if (!name.starts_with('#')) return name;
  const size_t open = name.find("(\"");
  return open == std::string_view::npos ? name : name.substr(open + 2);
}

}  // namespace

std::optional<double> size_in_name(std::string_view name) {
  const std::string_view text = values_in(name);
  std::optional<double> of_arrays, of_numbers;
  for (Reader r(text); !r.at_end();) {
    if (r.peek() == '[') {
      if (const auto elements = r.dims()) {
        of_arrays = std::max(of_arrays.value_or(0), *elements);
      } else {
        r.skip();
      }
    } else if (is_digit(r.peek())) {
      of_numbers = std::max(of_numbers.value_or(0), r.number());
    } else {
      r.skip();
    }
  }
  if (!of_arrays && text.starts_with('[')) return std::nullopt;
  const auto size = of_arrays ? of_arrays : of_numbers;
  return size && *size > 0 ? size : std::nullopt;
}

}  // namespace kenaz::bench

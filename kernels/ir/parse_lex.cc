#include "kernels/ir/parse_lex.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

namespace kenaz::ir {
namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'';
}

class Lexer {
 public:
  explicit Lexer(std::string_view t) : t_(t) {}

  Result<std::vector<Token>> run() {
    while (true) {
      skip_blanks();
      if (i_ >= t_.size()) break;
      const char c = t_[i_];
      if (digit(c) || (c == '-' && digit(at(1)))) {
        number();
      } else if (word(c)) {
        take(Token::kIdent, [&] { return word(at()); });
      } else if (c == '"') {
        if (!string()) return bad_request(fmt::format("line {}: unterminated string", line_));
      } else if (c == '#' && at(1) == '[') {
        i_ += 2;
        take(Token::kAttr, [&] { return at() != ']' && at() != '\n'; });
        ++i_;
      } else {
        const size_t n = c == '-' && at(1) == '>' ? 2 : 1;
        out_.push_back({Token::kPunct, std::string(t_.substr(i_, n)), line_});
        i_ += n;
      }
    }
    out_.push_back({Token::kEnd, "end of text", line_});
    return std::move(out_);
  }

 private:
  char at(size_t k = 0) const { return i_ + k < t_.size() ? t_[i_ + k] : '\n'; }
  void skip_blanks() {
    while (i_ < t_.size()) {
      if (t_[i_] == '\n') ++line_;
      if (t_[i_] == '-' && at(1) == '-') {
        while (i_ < t_.size() && t_[i_] != '\n') ++i_;
      } else if (std::isspace(static_cast<unsigned char>(t_[i_])) != 0) {
        ++i_;
      } else {
        return;
      }
    }
  }
  template <class F>
  void take(Token::Kind kind, F&& more) {
    const size_t start = i_;
    while (i_ < t_.size() && more()) ++i_;
    out_.push_back({kind, std::string(t_.substr(start, i_ - start)), line_});
  }
  void number() {
    const size_t start = i_++;
    while (word(at()) || at() == '.' || ((at() == '-' || at() == '+') && t_[i_ - 1] == 'e')) {
      ++i_;
    }
    out_.push_back({Token::kNumber, std::string(t_.substr(start, i_ - start)), line_});
  }
  bool string() {
    std::string s;
    for (++i_; i_ < t_.size() && t_[i_] != '"'; ++i_) {
      if (t_[i_] == '\\' && i_ + 1 < t_.size()) {
        ++i_;
        s += t_[i_] == 'n' ? '\n' : t_[i_];
      } else {
        s += t_[i_];
      }
    }
    if (i_ >= t_.size()) return false;
    ++i_;
    out_.push_back({Token::kString, std::move(s), line_});
    return true;
  }

  std::string_view t_;
  size_t i_ = 0;
  int line_ = 1;
  std::vector<Token> out_;
};

}  // namespace

Result<std::vector<Token>> lex(std::string_view text) { return Lexer(text).run(); }

std::optional<PrimValue> number_of(const std::string& text, PrimType fallback) {
  const size_t end = text.find_first_of("iuf");
  PrimType t = fallback;
  if (end != std::string::npos) {
    const auto named = prim_from_name(std::string_view(text).substr(end));
    if (!named) return std::nullopt;
    t = *named;
  }
  const std::string digits = text.substr(0, end);
  if (is_float(t)) return PrimValue::of_float(t, std::strtod(digits.c_str(), nullptr));
  if (digits[0] == '-') return PrimValue::of_int(t, std::strtoll(digits.c_str(), nullptr, 10));
  return PrimValue::of_int(t, static_cast<int64_t>(std::strtoull(digits.c_str(), nullptr, 10)));
}

}  // namespace kenaz::ir

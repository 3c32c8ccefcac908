#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "kernels/mfg/syntax/token.h"

namespace kenaz::mfg {

void reject(const SourceRange& range, std::string message) {
  throw Rejected{Diagnostic{Severity::kError, range, std::move(message), {}, {}}};
}

std::string Token::str() const {
  switch (kind) {
    case Tok::kEnd: return "the end of the file";
    case Tok::kNumber: return "a number";
    case Tok::kString: return "a string";
    default: return fmt::format("\"{}\"", text);
  }
}

namespace {

// Longer ones first: the first that fits is the token.
constexpr std::array<std::string_view, 39> kSigns = {
    "..<", "...", "||", "|>", "&&", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=",
    "*=",  "|",   "&",  "<",  ">",  "=",  "+",  "-",  "*",  "/",  "%",  "^",  "!",
    "(",   ")",   "[",  "]",  "{",  "}",  ",",  ".",  ":",  "@",  "$",  ";",  "~"};

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(const std::shared_ptr<const SourceFile>& file) : file_(file), text_(file->text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_space();
      start_ = here_;
      first_ = at_;
      Token t = next();
      t.range = range();
      t.on_new_line = new_line_;
      new_line_ = false;
      tokens.push_back(std::move(t));
    } while (tokens.back().kind != Tok::kEnd);
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }
  /// Columns count characters, not bytes.
  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++here_.line;
      here_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++here_.column;
    }
  }
  void advance(size_t n) {
    for (size_t i = 0; i < n; ++i) advance();
  }
  SourceRange range() const { return {file_, start_, here_}; }
  std::string_view so_far() const { return std::string_view(text_).substr(first_, at_ - first_); }

  void skip_space();
  Token next();
  Token number();
  Token integer(std::string_view digits, int base);
  Token string();

  std::shared_ptr<const SourceFile> file_;
  const std::string& text_;
  size_t at_ = 0, first_ = 0;
  SourcePos here_{1, 1}, start_{1, 1};
  bool new_line_ = false;
};

void Lexer::skip_space() {
  while (!at_end()) {
    const char c = peek();
    if (c == '\n') {
      new_line_ = true;
      advance();
    } else if (c == '#') {
      while (!at_end() && peek() != '\n') advance();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      advance(peek(1) == '\n' ? 2 : 3);
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      advance();
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  Token t;
  if (at_end()) return t;
  if (is_name_start(peek())) {
    while (is_name_part(peek())) advance();
    if (so_far() == "mut" && peek() == '!' && peek(1) != '=') advance();
    t.kind = Tok::kName;
    t.text = so_far();
    return t;
  }
  if (is_digit(peek())) return number();
  if (peek() == '"') return string();
  for (const std::string_view sign : kSigns) {
    if (std::string_view(text_).substr(at_).starts_with(sign)) {
      advance(sign.size());
      t.kind = Tok::kSign;
      t.text = sign;
      return t;
    }
  }
  do {
    advance();
  } while (!at_end() && (static_cast<unsigned char>(peek()) & 0xc0) == 0x80);
  reject(range(), "This character means nothing here.");
}

Token Lexer::integer(std::string_view digits, int base) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, base);
  const bool is_unsigned = peek() == 'u';
  if (is_unsigned) advance();
  if (is_name_part(peek())) {
    while (is_name_part(peek())) advance();
    reject(range(), fmt::format("\"{}\" is neither a number nor a name.", so_far()));
  }
  const uint64_t most = is_unsigned || base == 16 ? 0xffffffffu : 0x7fffffffu;
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    reject(range(), fmt::format("\"{}\" is no number.", so_far()));
  }
  if (n > most) {
    reject(range(), fmt::format("{} does not fit into {}.", so_far(), is_unsigned ? "u32" : "i32"));
  }
  Token t;
  t.kind = Tok::kNumber;
  t.number =
      PrimValue::of_int(is_unsigned ? PrimType::kU32 : PrimType::kI32, static_cast<int64_t>(n));
  return t;
}

Token Lexer::number() {
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    advance(2);
    const size_t digits = at_;
    while (std::isxdigit(static_cast<unsigned char>(peek())) != 0) advance();
    return integer(std::string_view(text_).substr(digits, at_ - digits), 16);
  }
  while (is_digit(peek())) advance();
  const bool fraction = peek() == '.' && is_digit(peek(1));
  if (!fraction) return integer(so_far(), 10);
  advance();
  while (is_digit(peek())) advance();
  const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
  if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
    advance(2 + sign);
    while (is_digit(peek())) advance();
  }
  double value = 0;
  const std::string_view digits = so_far();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (is_name_part(peek())) {
    while (is_name_part(peek())) advance();
    reject(range(), fmt::format("\"{}\" is neither a number nor a name.", so_far()));
  }
  Token t;
  t.kind = Tok::kNumber;
  t.number = PrimValue::of_float(PrimType::kF32, value);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      !std::isfinite(t.number.as_double())) {
    reject(range(), fmt::format("{} does not fit into f32.", so_far()));
  }
  return t;
}

Token Lexer::string() {
  Token t;
  t.kind = Tok::kString;
  advance();
  while (peek() != '"') {
    if (at_end() || peek() == '\n') reject(range(), "This string does not end on its line.");
    if (peek() == '\\' && (peek(1) == '"' || peek(1) == '\\')) advance();
    t.text += peek();
    advance();
  }
  advance();
  return t;
}

}  // namespace

std::vector<Token> tokens_of(const std::shared_ptr<const SourceFile>& file) {
  return Lexer(file).run();
}

}  // namespace kenaz::mfg

#include <algorithm>
#include <unordered_map>

#include "kernels/futhark/syntax/literals.h"
#include "kernels/futhark/syntax/token.h"
#include "protocol/base/utf8.h"

namespace kenaz::syntax {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_constituent(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '\''; }
bool is_op_char(char c) {
  return c != '\0' && std::string_view("+-*/%=!><|&^.").find(c) != std::string_view::npos;
}
bool is_op_start(char c) { return c != '.' && is_op_char(c); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

const std::unordered_map<std::string_view, Tok>& keywords() {
  static const std::unordered_map<std::string_view, Tok> words = {
      {"true", Tok::kTrue},       {"false", Tok::kFalse},   {"if", Tok::kIf},
      {"then", Tok::kThen},       {"else", Tok::kElse},     {"def", Tok::kDef},
      {"let", Tok::kLet},         {"loop", Tok::kLoop},     {"in", Tok::kIn},
      {"val", Tok::kVal},         {"for", Tok::kFor},       {"do", Tok::kDo},
      {"with", Tok::kWith},       {"local", Tok::kLocal},   {"open", Tok::kOpen},
      {"include", Tok::kInclude}, {"import", Tok::kImport}, {"type", Tok::kType},
      {"entry", Tok::kEntry},     {"module", Tok::kModule}, {"while", Tok::kWhile},
      {"assert", Tok::kAssert},   {"match", Tok::kMatch},   {"case", Tok::kCase},
  };
  return words;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : s_(text) {}

  std::vector<Token> run() {
    for (;;) {
      skip_space();
      if (at_ == s_.size()) break;
      start_ = at_;
      start_pos_ = pos_;
      token_ = Token{};
      if (starts("--") && !starts("-- |")) {
        skip_line();
        continue;
      }
      scan();
      emit();
    }
    token_ = Token{};
    token_.begin = token_.end = pos_;
    token_.offset = at_;
    out_.push_back(std::move(token_));
    return std::move(out_);
  }

 private:
  char peek(size_t k = 0) const { return at_ + k < s_.size() ? s_[at_ + k] : '\0'; }
  char char_at(size_t i) const { return i < s_.size() ? s_[i] : '\0'; }
  bool starts(std::string_view p) const { return s_.substr(at_).starts_with(p); }

  /// Moves to `to`, keeping count of lines and columns.
  void advance(size_t to) {
    for (; at_ < to; ++at_) {
      const auto c = static_cast<unsigned char>(s_[at_]);
      if ((c & 0xc0) == 0x80) continue;  // inside a UTF-8 sequence
      if (c == '\n') {
        ++pos_.line;
        pos_.column = 1;
      } else {
        ++pos_.column;
      }
    }
  }

  void skip_space() {
    size_t to = at_;
    while (to < s_.size() && is_space(s_[to])) ++to;
    advance(to);
  }

  void skip_line() { advance(std::min(s_.find('\n', at_), s_.size())); }

  void emit() {
    token_.begin = start_pos_;
    token_.end = pos_;
    token_.offset = start_;
    token_.length = at_ - start_;
    out_.push_back(std::move(token_));
  }

  void take(Tok kind, size_t length) {
    token_.kind = kind;
    advance(at_ + length);
  }

  void fail(std::string why, size_t length) {
    token_.text = std::move(why);
    take(Tok::kError, length);
  }

  void scan() {
    const char c = peek();
    if (starts("-- |")) return doc();
    if (is_digit(c)) return number();
    if (is_letter(c) || (c == '_' && (is_letter(peek(1)) || is_digit(peek(1))))) return word();
    if (c == '\'') return apostrophe();
    if (c == '"') return string();
    if (c == '#') return hash();
    if (is_op_start(c)) return symbol();
    punctuation();
  }

  void doc() {
    size_t end = std::min(s_.find('\n', at_), s_.size());
    std::string text(s_.substr(at_ + 4, end - at_ - 4));
    while (end < s_.size()) {
      size_t next = end + 1;
      while (next < s_.size() && s_[next] != '\n' && is_space(s_[next])) ++next;
      if (!s_.substr(next).starts_with("--")) break;
      const size_t line_end = std::min(s_.find('\n', next), s_.size());
      text += '\n';
      text += s_.substr(next + 2, line_end - next - 2);
      end = line_end;
    }
    token_.text = std::move(text);
    take(Tok::kDoc, end - at_);
  }

  template <class Pred>
  size_t span(size_t from, Pred pred) const {
    while (from < s_.size() && pred(s_[from])) ++from;
    return from;
  }

  size_t suffix(size_t from, std::string_view kinds) const {
    for (std::string_view x :
         {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"}) {
      if (kinds.find(x[0]) != kinds.npos && s_.substr(from).starts_with(x)) return from + x.size();
    }
    return from;
  }

  size_t prefixed_end() const {
    const auto decimal = [](char c) { return is_digit(c) || c == '_'; };
    switch (peek() == '0' ? peek(1) | 0x20 : 0) {
      case 'x': {
        if (!is_hex(peek(2))) return 0;
        const auto digit = [](char c) { return is_hex(c) || c == '_'; };
        const size_t whole = span(at_ + 2, digit);
        if (char_at(whole) == '.' && is_hex(char_at(whole + 1))) {
          size_t e = span(whole + 1, digit);
          if ((char_at(e) | 0x20) == 'p') {
            ++e;
            if (char_at(e) == '+' || char_at(e) == '-') ++e;
            if (decimal(char_at(e))) return suffix(span(e, decimal), "f");
          }
        }
        return suffix(whole, "iu");
      }
      case 'b': {
        if (peek(2) != '0' && peek(2) != '1') return 0;
        return suffix(span(at_ + 2, [](char c) { return c == '0' || c == '1' || c == '_'; }), "iu");
      }
      case 'r': {
        const auto digit = [](char c) {
          return c != '\0' && std::string_view("IVXLCDM").find(c) != std::string_view::npos;
        };
        if (!digit(peek(2))) return 0;
        return suffix(span(at_ + 2, [&](char c) { return digit(c) || c == '_'; }), "iu");
      }
      default: return 0;
    }
  }

  size_t decimal_end(bool& natural) const {
    const auto digit = [](char c) { return is_digit(c) || c == '_'; };
    const size_t whole = span(at_, digit);
    const size_t with_suffix = suffix(whole, "iu");
    natural = with_suffix == whole;
    // In `t.0.1` the numbers are fields: after a dot there are no reals.
    if (with_suffix != whole || (at_ > 0 && s_[at_ - 1] == '.')) return with_suffix;
    size_t e = whole;
    if (char_at(e) == '.' && is_digit(char_at(e + 1))) e = span(e + 1, digit);
    if ((char_at(e) | 0x20) == 'e') {
      const size_t x = e + (char_at(e + 1) == '+' || char_at(e + 1) == '-' ? 2 : 1);
      if (is_digit(char_at(x))) e = span(x, is_digit);
    }
    e = suffix(e, "f");
    natural = e == whole;
    return e;
  }

  void number() {
    size_t end = prefixed_end();
    if (end == 0) end = decimal_end(token_.is_natural);
    const std::string_view text = s_.substr(at_, end - at_);
    token_.text = text;
    auto value = numeric_literal(text);
    if (!value) return fail("Integer literal is larger than any integer type holds.", end - at_);
    token_.literal = *value;
    take(Tok::kLiteral, end - at_);
  }

  void word() {
    size_t end = span(at_, is_constituent);
    const std::string first(s_.substr(at_, end - at_));
    // A qualified operator, M.N.+ , is one token; anything else qualified is several.
    if (end > chain_without_op_) {
      std::vector<std::string> quals = {first};
      size_t q = end;
      while (char_at(q) == '.') {
        const char n = char_at(q + 1);
        if (is_op_start(n)) {
          const size_t op_end = span(q + 1, is_op_char);
          token_.text = s_.substr(q + 1, op_end - q - 1);
          token_.quals = std::move(quals);
          return take(Tok::kOp, op_end - at_);
        }
        const char m = char_at(q + 2);
        if (!is_letter(n) && !(n == '_' && (is_letter(m) || is_digit(m)))) break;
        const size_t next = span(q + 1, is_constituent);
        quals.emplace_back(s_.substr(q + 1, next - q - 1));
        q = next;
      }
      chain_without_op_ = q;
    }
    const auto k = keywords().find(first);
    token_.text = first;
    take(k == keywords().end() ? Tok::kId : k->second, end - at_);
  }

  void apostrophe() {
    size_t i = at_ + 1;
    if (char_at(i) == '\\') {
      ++i;
      i = is_digit(char_at(i)) ? span(i, is_digit) : i + 1;
    } else if (char_at(i) != '\'' && static_cast<unsigned char>(char_at(i)) >= ' ') {
      ++i;
      while (i < s_.size() && (static_cast<unsigned char>(s_[i]) & 0xc0) == 0x80) ++i;
    }
    if (i > at_ + 1 && char_at(i) == '\'') {
      const auto text = unescape(s_.substr(at_ + 1, i - at_ - 1));
      if (!text) return fail("Invalid character literal.", i + 1 - at_);
      std::string_view rest = *text;
      const auto c = take_code_point(rest);
      if (!c || !rest.empty()) return fail("Invalid character literal.", i + 1 - at_);
      token_.literal = CharLit{*c};
      return take(Tok::kLiteral, i + 1 - at_);
    }
    if (peek(1) == '^') return take(Tok::kApostropheHat, 2);
    if (peek(1) == '~') return take(Tok::kApostropheTilde, 2);
    take(Tok::kApostrophe, 1);
  }

  void string() {
    size_t i = at_ + 1;
    while (i < s_.size() && s_[i] != '"' && static_cast<unsigned char>(s_[i]) >= ' ') {
      i += s_[i] == '\\' ? 2 : 1;
    }
    if (char_at(i) != '"') return fail("Unclosed string literal.", 1);
    auto text = unescape(s_.substr(at_ + 1, i - at_ - 1));
    if (!text) return fail("Invalid string literal.", i + 1 - at_);
    token_.text = std::move(*text);
    take(Tok::kString, i + 1 - at_);
  }

  void hash() {
    if (peek(1) == '[') return take(Tok::kHashBracket, 2);
    const char c = peek(1), d = peek(2);
    if (is_letter(c) || (c == '_' && (is_letter(d) || is_digit(d)))) {
      const size_t end = span(at_ + 1, is_constituent);
      token_.text = s_.substr(at_ + 1, end - at_ - 1);
      return take(Tok::kConstructor, end - at_);
    }
    unexpected_character();
  }

  void symbol() {
    const size_t end = span(at_, is_op_char);
    token_.text = s_.substr(at_, end - at_);
    const Tok kind = token_.text == "="    ? Tok::kEqu
                     : token_.text == "!"  ? Tok::kBang
                     : token_.text == "->" ? Tok::kArrow
                                           : Tok::kOp;
    take(kind, end - at_);
  }

  void unexpected_character() {
    std::string_view rest = s_.substr(at_);
    if (!take_code_point(rest)) return fail("Invalid UTF-8.", 1);
    const size_t n = s_.size() - at_ - rest.size();
    fail("Unexpected token: '" + std::string(s_.substr(at_, n)) + "'", n);
  }

  void punctuation() {
    static constexpr std::pair<std::string_view, Tok> kPunctuation[] = {
        {"..<", Tok::kTwoDotsLt}, {"..>", Tok::kTwoDotsGt}, {"...", Tok::kThreeDots},
        {"???", Tok::kHole},      {"..", Tok::kTwoDots},    {":>", Tok::kColonGt},
        {".", Tok::kDot},         {":", Tok::kColon},       {"(", Tok::kLParen},
        {")", Tok::kRParen},      {"]", Tok::kRBracket},    {"{", Tok::kLCurly},
        {"}", Tok::kRCurly},      {",", Tok::kComma},       {"_", Tok::kUnderscore},
        {"?", Tok::kQuestion},    {"\\", Tok::kBackslash},  {"~", Tok::kTilde},
        {"`", Tok::kBacktick},    {"$", Tok::kDollar},
    };
    if (peek() == '[') {
      const char before = at_ > 0 ? s_[at_ - 1] : ' ';
      const bool touching = is_constituent(before) || before == ')' || before == ']';
      return take(touching ? Tok::kIndexing : Tok::kLBracket, 1);
    }
    for (const auto& [text, kind] : kPunctuation) {
      if (starts(text)) return take(kind, text.size());
    }
    unexpected_character();
  }

  std::string_view s_;
  size_t at_ = 0, start_ = 0;
  SourcePos pos_{1, 1}, start_pos_;
  size_t chain_without_op_ = 0;  // a.b.c up to here is known not to end in an operator
  Token token_;
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokenise(std::string_view text) { return Lexer(text).run(); }

}  // namespace kenaz::syntax

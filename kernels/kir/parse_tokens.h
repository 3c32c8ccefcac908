// What the reader of kernel IR is made of: a cursor over tokens with the first error, and tables of
// names.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ir/parse_lex.h"
#include "kernels/kir/kir.h"
#include "kernels/kir/names.h"

namespace kenaz::kir {

inline constexpr uint32_t kMaxNumber = 1'000'000;  // of a value: tables are as long as the largest

/// The tokens, the first error, and what all parts of the text have in common. After the first
/// error every function returns quickly with something harmless.
class TokenReader {
 public:
  using Token = ir::Token;

  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  const Token& peek(size_t k = 0) const {
    return ok() && at_ + k < tokens_.size() ? tokens_[at_ + k] : tokens_.back();
  }
  Token advance() {
    const Token t = peek();
    if (ok() && at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  void fail_in(int line, const std::string& what) {
    if (ok()) error_ = fmt::format("line {}: {}", line, what);
  }
  void fail_at(const std::string& what) {
    fail_in(peek().line, fmt::format("{}, found '{}'", what, peek().text));
  }
  bool is(std::string_view s) const {
    return peek().kind != Token::kString && peek().kind != Token::kEnd && peek().text == s;
  }
  bool eat(std::string_view s) {
    if (!is(s)) return false;
    advance();
    return true;
  }
  void expect(std::string_view s) {
    if (!eat(s)) fail_at(fmt::format("expected '{}'", s));
  }
  /// f until `close`, separated by commas.
  template <class F>
  void list_until(std::string_view close, F&& f) {
    if (eat(close)) return;
    while (ok()) {
      f();
      if (eat(close)) return;
      expect(",");
    }
  }
  std::string string() {
    if (peek().kind != Token::kString) fail_at("expected a name in quotes");
    return advance().text;
  }
  int small_int() {
    if (peek().kind != Token::kNumber) fail_at("expected a number");
    return std::atoi(advance().text.c_str());
  }
  /// Whether a name such as v12 comes.
  bool is_name(char letter) const {
    const std::string& s = peek().text;
    return peek().kind == Token::kIdent && s.size() > 1 && s.size() < 9 && s[0] == letter &&
           s.find_first_not_of("0123456789", 1) == std::string::npos;
  }
  uint32_t number_of_name(char letter) {
    if (!is_name(letter)) fail_at(fmt::format("expected {} and a number", letter));
    const auto n = static_cast<uint32_t>(std::atoi(advance().text.c_str() + 1));
    if (n > kMaxNumber) fail_at("too large a number before this");
    return ok() ? n : 0;
  }
  template <class E, size_t n>
  E one_of(const std::string_view (&names)[n], const char* what) {
    const auto e = find_named<E>(names, peek().text);
    if (!e) fail_at(fmt::format("expected {}", what));
    advance();
    return e.value_or(E{});
  }
  ir::ProvId prov() {
    if (!eat("@")) return {};
    return ir::ProvId{static_cast<uint32_t>(small_int())};
  }
  PrimType prim() {
    const auto t = prim_from_name(peek().text);
    if (!t) fail_at("expected a primitive type");
    advance();
    return t.value_or(PrimType::kI32);
  }
  Type type() {
    const std::string text = peek().text;
    const size_t x = text.find('x');
    const auto t = prim_from_name(std::string_view(text).substr(0, x));
    const int lanes = x == std::string::npos ? 1 : std::atoi(text.c_str() + x + 1);
    if (!t || lanes < 1 || lanes > 99) fail_at("expected a type");
    advance();
    return {t.value_or(PrimType::kI32), static_cast<uint8_t>(lanes)};
  }
  /// nullopt, and nothing read, if no constant comes.
  std::optional<PrimValue> constant() {
    if (peek().kind == Token::kNumber) {
      const auto n = ir::number_of(peek().text, PrimType::kI32);
      if (!n) fail_at("bad suffix of a number");
      advance();
      return n.value_or(PrimValue{});
    }
    if (eat("true")) return PrimValue::of_bool(true);
    if (eat("false")) return PrimValue::of_bool(false);
    if (!eat("bits")) return std::nullopt;
    expect("(");
    PrimValue v{prim()};
    expect(",");
    v.bits = std::strtoull(advance().text.c_str(), nullptr, 16);
    expect(")");
    return v;
  }
  ScalarOp scalar_op() {
    const auto op = scalar_op_from_name(peek().text);
    if (!op) fail_at("unknown operation");
    advance();
    return op.value_or(ScalarOp::kAdd);
  }

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string error_;
};

/// Values or variables: their types, and where those without one were named first.
template <class Id>
class NameTable {
 public:
  Id use(uint32_t number, int line) {
    used_.try_emplace(number, line);
    return Id{number};
  }
  Id define(uint32_t number, Type type) {
    types_[number] = type;
    return Id{number};
  }
  /// The line of a name without definition, and its number.
  std::optional<std::pair<uint32_t, int>> undefined() const {
    for (const auto& [number, line] : used_) {
      if (!types_.contains(number)) return std::pair(number, line);
    }
    return std::nullopt;
  }
  std::vector<Type> table() const {
    std::vector<Type> out(types_.empty() ? 0 : types_.rbegin()->first + 1);
    for (const auto& [number, type] : types_) out[number] = type;
    return out;
  }

 private:
  std::map<uint32_t, Type> types_;
  std::map<uint32_t, int> used_;
};

}  // namespace kenaz::kir

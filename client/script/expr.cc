#include "client/script/expr.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "protocol/data/text_format.h"

namespace kenaz::script {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::string_view kSpace = " \t\r\n";

bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_char(char c) { return is_alpha(c) || is_digit(c) || c == '\''; }

template <class Node>
ExprPtr make(Node node) {
  return std::make_unique<Expr>(Expr{std::move(node)});
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Result<ExprPtr> whole() {
    KENAZ_ASSIGN(auto e, expression());
    skip_space();
    if (pos_ < text_.size()) return error("expected the end of the script");
    return e;
  }

 private:
  tl::unexpected<Error> error(std::string_view message) const {
    return bad_request(fmt::format("script, at '{}': {}", text_.substr(pos_, 20), message));
  }
  void skip_space() {
    while (pos_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[pos_]))) {
        ++pos_;
      } else if (text_.substr(pos_, 2) == "--") {
        pos_ = std::min(text_.find('\n', pos_), text_.size());
      } else {
        break;
      }
    }
  }
  char peek() {
    skip_space();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++pos_;
    return true;
  }
  /// The name at the cursor, which stays where it is.
  std::string_view peek_name() {
    const char c = peek();
    if (!is_alpha(c) && c != '$') return {};
    size_t end = pos_ + 1;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    return text_.substr(pos_, end - pos_);
  }
  bool accept_word(std::string_view word) {
    if (peek_name() != word) return false;
    pos_ += word.size();
    return true;
  }
  Result<std::string> name() {
    const auto n = peek_name();
    if (n.empty() || n[0] == '$') return error("expected a name");
    pos_ += n.size();
    return std::string(n);
  }
  /// A constant that begins like a name: true, f32.nan, empty([0]i32).
  bool starts_constant() {
    const auto n = peek_name();
    if (n == "true" || n == "false") return true;
    const auto after = text_.substr(pos_ + n.size());
    if (n == "empty") {
      const size_t open = after.find_first_not_of(kSpace);
      if (open == std::string_view::npos || after[open] != '(') return false;
      const size_t dimension = after.find_first_not_of(kSpace, open + 1);
      return dimension != std::string_view::npos && after[dimension] == '[';
    }
    const auto type = prim_from_name(n);
    if (!type || !is_float(*type)) return false;
    constexpr size_t kLength = 4;
    const auto field = after.substr(0, kLength);
    return (field == ".inf" || field == ".nan") &&
           (after.size() == kLength || !is_name_char(after[kLength]));
  }
  bool starts_atom() {
    const char c = peek();
    if (c == '\0') return false;
    if (std::string_view("([{\"-#").find(c) != std::string_view::npos || is_digit(c)) return true;
    const auto n = peek_name();
    return !n.empty() && n != "in" && n != "let";
  }

  Result<ExprPtr> expression();
  Result<ExprPtr> let();
  Result<ExprPtr> postfix();
  Result<ExprPtr> atom();
  Result<ExprPtr> tuple();
  Result<ExprPtr> record();
  Result<ExprPtr> constructor();
  Result<ExprPtr> constant();
  Result<ExprPtr> string();
  Status arguments(std::vector<ExprPtr>& args);

  std::string_view text_;
  size_t pos_ = 0;
  int depth_ = 0;
};

Result<ExprPtr> Parser::expression() {
  if (++depth_ > kMaxDepth) return error("nested too deeply");
  const auto leave = std::shared_ptr<void>(nullptr, [this](void*) { --depth_; });
  if (accept_word("let")) return let();
  if (peek() == '#') {
    KENAZ_ASSIGN(auto e, constructor());
    KENAZ_TRY(arguments(std::get<Construct>(e->node).payload));
    return e;
  }
  const auto n = peek_name();
  if (n.empty() || starts_constant()) return postfix();
  pos_ += n.size();
  if (pos_ < text_.size() && text_[pos_] == '.') {
    pos_ -= n.size();
    return postfix();
  }
  Apply apply{std::string(n), {}};
  KENAZ_TRY(arguments(apply.args));
  return make(std::move(apply));
}

Status Parser::arguments(std::vector<ExprPtr>& args) {
  while (starts_atom()) {
    KENAZ_ASSIGN(auto arg, postfix());
    args.push_back(std::move(arg));
  }
  return {};
}

Result<ExprPtr> Parser::let() {
  Let node;
  if (accept('(')) {
    do {
      KENAZ_ASSIGN(auto n, name());
      node.names.push_back(std::move(n));
    } while (accept(','));
    if (!accept(')')) return error("expected ')'");
  } else {
    KENAZ_ASSIGN(auto n, name());
    node.names.push_back(std::move(n));
  }
  if (!accept('=')) return error("expected '='");
  KENAZ_ASSIGN(node.bound, expression());
  if (!accept_word("in")) return error("expected 'in'");
  KENAZ_ASSIGN(node.body, expression());
  return make(std::move(node));
}

Result<ExprPtr> Parser::postfix() {
  KENAZ_ASSIGN(auto e, atom());
  for (int fields = 0; pos_ < text_.size() && text_[pos_] == '.'; ++fields) {
    if (fields == kMaxDepth) return error("nested too deeply");
    ++pos_;
    const size_t start = pos_;
    while (pos_ < text_.size() && is_name_char(text_[pos_])) ++pos_;
    if (pos_ == start) return error("expected the name of a field");
    e = make(Field{std::move(e), std::string(text_.substr(start, pos_ - start))});
  }
  return e;
}

Result<ExprPtr> Parser::atom() {
  const char c = peek();
  if (c == '(') return tuple();
  if (c == '{') return record();
  if (c == '"') return string();
  if (c == '#') return constructor();
  if (c == '[' || c == '-' || is_digit(c) || starts_constant()) return constant();
  const auto n = peek_name();
  if (n.empty()) return error("expected an expression");
  pos_ += n.size();
  return make(Apply{std::string(n), {}});
}

Result<ExprPtr> Parser::tuple() {
  accept('(');
  TupleExpr tuple;
  if (accept(')')) return make(std::move(tuple));
  do {
    KENAZ_ASSIGN(auto e, expression());
    tuple.parts.push_back(std::move(e));
  } while (accept(','));
  if (!accept(')')) return error("expected ')'");
  if (tuple.parts.size() == 1) return std::move(tuple.parts[0]);
  return make(std::move(tuple));
}

Result<ExprPtr> Parser::record() {
  accept('{');
  RecordExpr record;
  if (accept('}')) return make(std::move(record));
  do {
    KENAZ_ASSIGN(auto n, name());
    if (!accept('=')) {
      record.fields.emplace_back(n, make(Apply{n, {}}));
      continue;
    }
    KENAZ_ASSIGN(auto e, expression());
    record.fields.emplace_back(std::move(n), std::move(e));
  } while (accept(','));
  if (!accept('}')) return error("expected '}'");
  return make(std::move(record));
}

/// Without a payload: `expression` adds what follows it.
Result<ExprPtr> Parser::constructor() {
  accept('#');
  KENAZ_ASSIGN(auto n, name());
  return make(Construct{std::move(n), {}});
}

Result<ExprPtr> Parser::constant() {
  int rank = 0;
  for (const char c : text_.substr(pos_, text_.find_first_not_of("[ \t\r\n", pos_) - pos_)) {
    if (c == '[') ++rank;
  }
  std::optional<Error> error;
  // The parameter's type may hold what an i32 does not, which the first of them would be.
  for (const auto type : {std::optional<PrimType>(), std::optional(PrimType::kI64),
                          std::optional(PrimType::kU64), std::optional(PrimType::kF64),
                          std::optional(PrimType::kF32), std::optional(PrimType::kF16)}) {
    data::ByteSource source(text_.substr(pos_));
    // A single number must not take the ")" or "," behind it along; the reader stops there.
    auto value =
        data::read_text(source, type ? std::optional(LeafType{*type, rank}) : std::nullopt);
    if (value) {
      const auto written = text_.substr(pos_, static_cast<size_t>(source.offset()));
      pos_ += written.size();
      return make(Constant{std::move(*value), std::string(written)});
    }
    if (!error) error = std::move(value).error();
  }
  return this->error(error->message);
}

Result<ExprPtr> Parser::string() {
  const auto close = text_.find('"', pos_ + 1);
  if (close == std::string_view::npos) return error("this string is never closed");
  Text text{std::string(text_.substr(pos_ + 1, close - pos_ - 1))};
  pos_ = close + 1;
  return make(std::move(text));
}

}  // namespace

Result<ExprPtr> parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace kenaz::script

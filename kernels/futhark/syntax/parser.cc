#include "kernels/futhark/syntax/parser.h"

#include <fmt/format.h>

#include <array>

#include "kernels/futhark/syntax/parser_impl.h"

namespace kenaz::syntax {

tl::expected<Program, Diagnostic> parse(std::shared_ptr<const std::string> file_name,
                                        std::string_view text) {
  Parser parser(std::make_shared<const SourceFile>(SourceFile{*file_name, std::string(text)}));
  Program program;
  if (!parser.program(program)) return tl::make_unexpected(parser.take_error());
  return program;
}

Level operator_level(std::string_view symbol) {
  static constexpr std::array<std::pair<std::string_view, Level>, 25> kLevels = {{
      {"||", kOrLevel},      {"&&", kAndLevel},     {"|>", kPipeRightLevel}, {"<|", kPipeLeftLevel},
      {"==", kCompareLevel}, {"!=", kCompareLevel}, {"<=", kCompareLevel},   {">=", kCompareLevel},
      {"<<", kShiftLevel},   {">>", kShiftLevel},   {"**", kPowerLevel},     {"//", kProductLevel},
      {"%%", kProductLevel}, {"+", kSumLevel},      {"-", kSumLevel},        {"*", kProductLevel},
      {"/", kProductLevel},  {"%", kProductLevel},  {"<", kCompareLevel},    {">", kCompareLevel},
      {"|", kBitLevel},      {"&", kBitLevel},      {"^", kBitLevel},        {"!", kCompareLevel},
      {"=", kCompareLevel},
  }};
  for (const auto& [text, level] : kLevels) {
    if (symbol.starts_with(text)) return level;
  }
  return kBacktickLevel;
}

bool Parser::fail_at(SourceRange range, std::string message) {
  if (!error_) {
    error_ = Diagnostic{Severity::kError, std::move(range), std::move(message), "", {}, "syntax"};
  }
  return false;
}

bool Parser::too_deep(int limit) {
  if (error_) return false;
  fail_at(range_of(peek()),
          fmt::format("Program text is nested too deeply (more than {} levels).", limit));
  error_->code = "limit";
  return false;
}

bool Parser::unexpected(std::string_view expected) {
  if (error_) return false;
  const Token& t = peek();
  std::string message;
  if (t.kind == Tok::kEnd) {
    message = "Unexpected end of file.";
  } else if (t.kind == Tok::kDoc) {
    message = "Documentation comments ('-- |') are only permitted when preceding declarations.";
    return fail_at(range_of(t), message);
  } else if (t.kind == Tok::kError) {
    return fail_at(range_of(t), t.text);
  } else {
    message = fmt::format("Unexpected token: '{}'", source_of(t));
  }
  fail_at(range_of(t), fmt::format("{}\nExpected {}.{}", message, expected, hint(t, expected)));
  if (auto note = open_bracket()) error_->notes.push_back(std::move(*note));
  return false;
}

bool Parser::expect(Tok kind, std::string_view what) { return eat(kind) || unexpected(what); }

bool Parser::identifier(std::string& out, std::string_view what) {
  if (!at(Tok::kId)) return unexpected(what);
  out = next().text;
  return true;
}

bool Parser::identifier(std::string& out, SourceRange& range, std::string_view what) {
  range = range_of(peek());
  return identifier(out, what);
}

bool Parser::qual_name(QualName& out) {
  const SourcePos begin = here();
  if (!identifier(out.name, "a name")) return false;
  while (at(Tok::kDot) && peek(1).kind == Tok::kId) {
    next();
    out.quals.push_back(std::exchange(out.name, next().text));
  }
  out.range = since(begin);
  return true;
}

bool Parser::bracketed_name(std::string& out) {
  if (!at_bracket()) return unexpected("'['");
  next();
  return identifier(out, "the name of a size") && expect(Tok::kRBracket, "']'");
}

bool Parser::attribute(Attr& out) {
  Nest nest(*this);
  if (!nest) return false;
  const SourcePos begin = here();
  if (at(Tok::kLiteral) && std::holds_alternative<IntLit>(peek().literal)) {
    out.is_integer = true;
    out.name = fmt::format("{}", std::get<IntLit>(next().literal).value);
    out.range = since(begin);
    return true;
  }
  if (!identifier(out.name, "an attribute")) return false;
  if (eat(Tok::kLParen)) {
    out.has_args = true;
    while (!at(Tok::kRParen)) {
      if (!attribute(out.args.emplace_back())) return false;
      if (!eat(Tok::kComma)) break;
    }
    if (!expect(Tok::kRParen, "',' or ')'")) return false;
  }
  out.range = since(begin);
  return true;
}

bool Parser::bracketed_attribute(Attr& out) {
  return expect(Tok::kHashBracket, "'#['") && attribute(out) && expect(Tok::kRBracket, "']'");
}

bool Parser::backticked(QualName& out) {
  return expect(Tok::kBacktick, "'`'") && qual_name(out) && expect(Tok::kBacktick, "'`'");
}

bool Parser::at_binding_operator(size_t k) const {
  const Tok kind = peek(k).kind;
  return kind == Tok::kOp || kind == Tok::kBacktick || kind == Tok::kBang;
}

bool Parser::binding_operator(std::string& name) {
  QualName qual;
  if (at(Tok::kBang)) {
    return fail_at(range_of(peek()),
                   "'!' is a prefix operator and cannot be used as infix operator.");
  }
  if (at(Tok::kBacktick)) {
    if (!backticked(qual)) return false;
  } else {
    if (!at(Tok::kOp)) return unexpected("an operator");
    qual = {peek().quals, peek().text, range_of(peek())};
    next();
  }
  if (!qual.quals.empty()) {
    return fail_at(qual.range, "Cannot use a qualified name in binding position.");
  }
  name = std::move(qual.name);
  return true;
}

}  // namespace kenaz::syntax

// What may have been meant where the parser finds something else than it expects.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/futhark/syntax/parser_impl.h"
#include "protocol/base/nearest.h"

namespace kenaz::syntax {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool opens(Tok kind) {
  return kind == Tok::kLParen || kind == Tok::kLBracket || kind == Tok::kIndexing ||
         kind == Tok::kHashBracket || kind == Tok::kLCurly;
}

bool closes(Tok kind) {
  return kind == Tok::kRParen || kind == Tok::kRBracket || kind == Tok::kRCurly;
}

/// Can a declaration start here, so that whatever is open before it should be closed?
bool starts_declaration(Tok kind) {
  return kind == Tok::kDef || kind == Tok::kEntry || kind == Tok::kType || kind == Tok::kModule ||
         kind == Tok::kImport || kind == Tok::kOpen;
}

/// For a name that stands where a declaration should.
std::string meant_declaration(const std::string& word) {
  static const std::vector<std::string> kKeywords = {"def",    "entry", "type", "module",
                                                     "import", "open",  "local"};
  static constexpr std::array<std::string_view, 8> kElsewhere = {
      "fun", "fn", "func", "function", "fct", "define", "const", "var"};
  if (std::find(kElsewhere.begin(), kElsewhere.end(), word) != kElsewhere.end()) return "def";
  return nearest(word, kKeywords);
}

}  // namespace

std::string Parser::hint(const Token& t, std::string_view expected) const {
  const auto meant = [](std::string_view what) {
    return what.empty() ? "" : fmt::format("\nDid you mean \"{}\"?", what);
  };
  if (t.kind == Tok::kOp && t.text.starts_with("//")) return "\nComments start with \"--\".";
  if (t.kind == Tok::kOp && t.text == "=>") return meant("->");
  if (t.kind == Tok::kEqu && contains(expected, "'then'")) return meant("==");
  if (t.kind == Tok::kEqu && expected == "a type") {
    return "\nNothing is assigned to a name: \"let\" binds the name anew.";
  }
  if ((t.kind == Tok::kFor || t.kind == Tok::kWhile) && expected == "a pattern") {
    return "\nA loop says which value changes: \"loop x = 0 for i < n do x + i\".";
  }
  if (t.kind == Tok::kArrow && !contains(expected, "->")) {
    return "\nA function without a name starts with a backslash: \"\\x -> x\".";
  }
  if (t.kind == Tok::kId && expected == "a declaration") return meant(meant_declaration(t.text));
  if (t.kind == Tok::kThen) {  // the `if` of which has been taken for the name of something
    for (size_t i = at_; i-- > 0 && tokens_[i].kind != Tok::kIf;) {
      const Token& word = tokens_[i];
      if (word.kind != Tok::kId) continue;
      if (word.text == "elif" || word.text == "elsif" || word.text == "elseif") {
        return meant("else if");
      }
    }
  }
  return "";
}

std::optional<Note> Parser::open_bracket() const {
  const Tok here = peek().kind;
  if (here != Tok::kEnd && !closes(here) && !starts_declaration(here)) return std::nullopt;
  std::vector<const Token*> open;
  for (size_t i = 0; i < at_; ++i) {
    if (opens(tokens_[i].kind)) open.push_back(&tokens_[i]);
    if (closes(tokens_[i].kind) && !open.empty()) open.pop_back();
  }
  if (open.empty()) return std::nullopt;
  const Token& last = *open.back();
  return Note{range_of(last),
              fmt::format("The '{}' at {} is not closed", source_of(last), range_of(last).str())};
}

void Parser::note_open_let(SourcePos begin) {
  const SourceRange let{file_, begin, {begin.line, begin.column + 3}};
  if (error_) error_->notes = {Note{let, fmt::format("The 'let' at {} has no 'in'", let.str())}};
}

}  // namespace kenaz::syntax

// Tokens of Futhark source text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "kernels/futhark/syntax/ast.h"

namespace kenaz::syntax {

enum class Tok {
  kEnd,
  kError,        // text: what is wrong
  kDoc,          // text: the comment
  kId,           // text: the name
  kConstructor,  // text: the name without #
  kLiteral,      // literal
  kString,       // text: UTF-8
  kOp,           // text: the symbol, quals: M. in M.+ ; also plain - * < ^ |
  // punctuation
  kLParen,
  kRParen,
  kIndexing,  // `[` right after a name, a digit, `)` or `]`
  kLBracket,
  kRBracket,
  kLCurly,
  kRCurly,
  kComma,
  kUnderscore,
  kQuestion,
  kArrow,
  kColon,
  kColonGt,
  kBackslash,
  kTilde,
  kApostrophe,
  kApostropheHat,
  kApostropheTilde,
  kBacktick,
  kHashBracket,
  kTwoDotsLt,
  kTwoDotsGt,
  kThreeDots,
  kTwoDots,
  kDot,
  kBang,
  kDollar,
  kHole,
  kEqu,
  // keywords
  kTrue,
  kFalse,
  kIf,
  kThen,
  kElse,
  kDef,
  kLet,
  kLoop,
  kIn,
  kVal,
  kFor,
  kDo,
  kWith,
  kLocal,
  kOpen,
  kInclude,
  kImport,
  kType,
  kEntry,
  kModule,
  kWhile,
  kAssert,
  kMatch,
  kCase,
};

struct Token {
  Tok kind = Tok::kEnd;
  std::string text;
  std::vector<std::string> quals;
  Literal literal;
  bool is_natural = false;  // plain decimal digits: also a field name, whose spelling is `text`
  SourcePos begin, end;     // end: behind the last character
  size_t offset = 0, length = 0;
};

/// The tokens of `text`, comments dropped, closed by a kEnd. Malformed text becomes kError tokens,
/// so that the parser reports whichever mistake comes first.
std::vector<Token> tokenise(std::string_view text);

}  // namespace kenaz::syntax

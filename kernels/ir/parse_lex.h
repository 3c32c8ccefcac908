// Tokens of the textual form of array IR.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::ir {

struct Token {
  enum Kind { kIdent, kNumber, kString, kAttr, kPunct, kEnd } kind = kEnd;
  std::string text;  // of strings and attributes: the contents
  int line = 0;
};

/// The last token is kEnd. "--" starts a comment.
Result<std::vector<Token>> lex(std::string_view text);

}  // namespace kenaz::ir

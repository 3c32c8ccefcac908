// Tokens of the textual form of array IR.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/prim_type.h"

namespace kenaz::ir {

struct Token {
  enum Kind { kIdent, kNumber, kString, kAttr, kPunct, kEnd } kind = kEnd;
  std::string text;  // of strings and attributes: the contents
  int line = 0;
};

/// The last token is kEnd. "--" starts a comment.
Result<std::vector<Token>> lex(std::string_view text);

/// The value of a number's text: "3i64", "1.5f32", or of type `fallback` where no type stands
/// behind it. nullopt if what stands there is no type.
std::optional<PrimValue> number_of(const std::string& text, PrimType fallback);

}  // namespace kenaz::ir

// The tokens of MFG, the language of image filters.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "protocol/prim_type.h"

namespace kenaz::mfg {

enum class Tok : uint8_t { kEnd, kName, kNumber, kString, kSign };

struct Token {
  Tok kind = Tok::kEnd;
  SourceRange range;
  /// A name, a sign ("|>"), or what a string stands for. "mut!" is a name.
  std::string text;
  PrimValue number;
  bool on_new_line = false;  // a line ended, without a backslash, since the token before

  bool is(std::string_view word) const {
    return (kind == Tok::kSign || kind == Tok::kName) && text == word;
  }
  /// As messages name it: `"+"`, "the end of the file".
  std::string str() const;
};

/// What a folder of this front end throws inside itself; `parse` and `check` give it as an Error.
struct Rejected {
  Diagnostic diagnostic;
};
[[noreturn]] void reject(const SourceRange& range, std::string message);

/// All tokens of the file, the last one of kind kEnd. Throws Rejected.
std::vector<Token> tokens_of(const std::shared_ptr<const SourceFile>& file);

}  // namespace kenaz::mfg

// The values of literals in source text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/futhark/syntax/ast.h"

namespace kenaz::syntax {

/// A numeric literal with prefix and suffix, already delimited by the lexer ("0x1Fi8", "1_000",
/// "2.5e3f32"). Suffixed integers wrap to their width; a bare one above 2^64-1 has no value.
std::optional<Literal> numeric_literal(std::string_view text);

/// The UTF-8 of the inside of a string literal, escapes resolved; nothing if one is unknown or the
/// text is not UTF-8.
std::optional<std::string> unescape(std::string_view inside);

}  // namespace kenaz::syntax

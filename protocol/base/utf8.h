// Bytes as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kenaz {

/// Decodes one UTF-8 sequence at the start of `s` and drops it from `s`; nothing if malformed.
std::optional<uint32_t> take_code_point(std::string_view& s);

/// By Unicode's table of well-formed byte sequences: no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes);

}  // namespace kenaz

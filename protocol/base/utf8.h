// Bytes as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kenaz {

/// Decodes one UTF-8 sequence at the start of `s` and drops it from `s`; nothing if malformed.
std::optional<uint32_t> take_code_point(std::string_view& s);

/// Appends the UTF-8 of a code point, at most 0x10ffff.
void append_utf8(std::string& out, uint32_t c);

/// By Unicode's table of well-formed byte sequences: no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes);

/// The text behind the mark that some editors put first, if there is one.
std::string_view without_byte_order_mark(std::string_view text);

/// Of ASCII's control characters, line ends among them.
constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}
/// With `?` in place of each of them.
std::string printable(std::string text);

/// A text's lines, without their ends.
std::vector<std::string> split_lines(const std::string& text);

}  // namespace kenaz

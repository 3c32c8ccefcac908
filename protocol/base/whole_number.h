// Numbers in text that strangers write.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace kenaz {

/// The number that the whole text is, as std::from_chars reads it: no blanks and no `+`; a `-` only
/// for signed T. Nothing if it is none, or not a T.
template <class T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T number{};
  const char* const all = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), all, number, base);
  if (error != std::errc() || end != all) return std::nullopt;
  return number;
}

}  // namespace kenaz

// Text without the space around it.
#pragma once

#include <string_view>

namespace kenaz {

/// The text without characters of `space` at its ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view space = " \t\n\v\f\r") {
  const size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

}  // namespace kenaz

// Whether bytes are text.
#pragma once

#include <string_view>

namespace kenaz {

/// By Unicode's table of well-formed byte sequences: no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes);

}  // namespace kenaz

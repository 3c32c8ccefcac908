// Places in text as editors count them: lines from 0, columns from 0 in UTF-16 units (or bytes).
#pragma once

#include <string>
#include <string_view>

#include "kernels/diagnostics/source.h"

namespace kenaz::editor {

enum class Units { kUtf16, kUtf8 };

struct Place {
  int64_t line = 0, column = 0;
};

/// The byte at which a place is; behind a line's end: its end; behind the text's: its size.
size_t byte_of(std::string_view text, Place place, Units units);

/// Both ways for places of the compiler, whose columns count characters. A place behind a line's
/// end, which a text that has changed may have, keeps as many columns behind it.
Place to_place(std::string_view text, SourcePos pos, Units units);
SourcePos to_position(std::string_view text, Place place, Units units);

/// file:///a%20b.fut as "/a b.fut", in normal form; another URI in normal form, too.
std::string path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

}  // namespace kenaz::editor

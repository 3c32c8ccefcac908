// Diagnostics as text, which servers write and clients pass on: kernels/diagnostics says how they
// look.
#pragma once

#include <string>
#include <string_view>

namespace kenaz {

/// Should text for this file descriptor be coloured? `no_color` and `term` are what $NO_COLOR and
/// $TERM say, or null: no escape sequence goes into a pipe, nor to who has set the former.
bool wants_colour(int descriptor, const char* no_color, const char* term);

/// Colours what kernels/diagnostics made (the severity, line numbers, underlines) and leaves all
/// other text as it is.
std::string colour_diagnostics(std::string_view text);

/// The text without the lines that quote a program: what is looked for in a diagnostic is looked
/// for in its words.
std::string without_excerpts(std::string_view text);

}  // namespace kenaz

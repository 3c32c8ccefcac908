// The program text that a diagnostic is about.
#pragma once

#include <string>

#include "kernels/diagnostics/source.h"

namespace kenaz {

/// The lines of the range with the range underlined, each line ended:
///
///     3 | entry main (x: i32) = coutn x
///       |                       ^^^^^
///
/// Of many lines the first two and the last; of a long line what is around the range. Characters
/// that a terminal would obey are shown as question marks. Empty if the text is not known.
std::string excerpt(const SourceRange& range);

}  // namespace kenaz

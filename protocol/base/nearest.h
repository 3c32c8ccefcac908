// What somebody may have meant who wrote a name that there is none of.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kenaz {

/// The candidate that the fewest mistakes in typing (a character too many, too few, another one, or
/// two of them exchanged) turn into `word`, the first of several; empty if none is close.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace kenaz

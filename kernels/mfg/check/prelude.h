// MFG's functions that can be written in MFG.
#pragma once

#include <string>

namespace kenaz::mfg {

/// Their text. A parameter of type f32T takes an f32 or a vector of them, one of type f32V a
/// vector.
std::string prelude_text();

}  // namespace kenaz::mfg

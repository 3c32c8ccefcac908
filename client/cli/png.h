// Arrays as pictures.
#pragma once

#include <string>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::cli {

/// Writes a [height][width] array: i32 or u32 as 0xRRGGBB, u8 as grey, floats from 0 to 1 as grey;
/// or one with 3 or 4 components per pixel, of u8 or of floats from 0 to 1: red, green, blue,
/// alpha.
Status write_png(const std::string& path, const data::Value& pixels);

}  // namespace kenaz::cli

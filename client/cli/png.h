// Arrays as pictures.
#pragma once

#include <string>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::cli {

/// Writes a [height][width] array: i32 or u32 as 0xRRGGBB, u8 as grey.
Status write_png(const std::string& path, const data::Value& pixels);

}  // namespace kenaz::cli

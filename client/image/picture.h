// Pictures in memory and in files.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::image {

/// Blue, green, red and alpha of every pixel, row by row: [height][width][4] of u8 or u16. Alpha is
/// not multiplied into the others.
struct Picture {
  data::Value pixels;

  int64_t height() const { return pixels.shape[0]; }
  int64_t width() const { return pixels.shape[1]; }
  int bits() const { return 8 * prim_size(pixels.type); }
};

/// A picture of this size, all 0. `bits`: 8 or 16.
Picture empty_picture(int64_t height, int64_t width, int bits);

/// The picture with as many bits per component: bytes are repeated, or the upper ones kept.
Picture with_bits(Picture picture, int bits);

/// Whether a file of this name is a picture that `read_picture` reads.
bool is_picture(const std::string& path);

/// A PNG (grey, RGB or palette, with or without alpha, up to 16 bits) or a JPEG, as the file's
/// first bytes say. What has no alpha is opaque. Errors name the file.
Result<Picture> read_picture(const std::string& path);

/// Writes a PNG of as many bits, without alpha if all pixels are opaque. Until it is complete, it
/// has another name.
Status write_picture(const std::string& path, const Picture& picture);

// ---- for the above
Result<Picture> read_png(std::FILE* file, const std::string& path);
Result<Picture> read_jpeg(std::FILE* file, const std::string& path);
Status write_png_file(std::FILE* file, const std::string& path, const Picture& picture);

/// What is wrong with a picture of this size, if anything.
Status check_size(int64_t height, int64_t width, const std::string& path);

}  // namespace kenaz::image

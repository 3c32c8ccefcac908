#include "client/cli/png.h"

#include <errno.h>
#include <fmt/format.h>
#include <png.h>
#include <string.h>

#include <cstdio>
#include <vector>

namespace kenaz::cli {

Status write_png(const std::string& path, const data::Value& pixels) {
  const bool grey = pixels.type == PrimType::kU8;
  const bool rgb = pixels.type == PrimType::kI32 || pixels.type == PrimType::kU32;
  if (pixels.shape.size() != 2 || (!grey && !rgb)) {
    return bad_request(fmt::format(
        "a picture must be of type [][]i32, [][]u32 or [][]u8; this is {}", pixels.type_name()));
  }
  const int64_t height = pixels.shape[0], width = pixels.shape[1];
  constexpr int64_t kMaxSide = 1 << 20;
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide) {
    return bad_request(
        fmt::format("no picture can have the shape {}", data::shape_text(pixels.shape)));
  }
  std::vector<png_byte> bytes;
  bytes.reserve(static_cast<size_t>(height * width * (grey ? 1 : 3)));
  for (int64_t i = 0; i < height * width; ++i) {
    const uint64_t pixel = pixels.at(i).bits;
    if (rgb) {
      bytes.push_back(static_cast<png_byte>(pixel >> 16));
      bytes.push_back(static_cast<png_byte>(pixel >> 8));
    }
    bytes.push_back(static_cast<png_byte>(pixel));
  }
  // libpng's simplified interface: no longjmp reaches us.
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr) == 0) {
    return internal_error(fmt::format("cannot write {}: {}", path, image.message));
  }
  return {};
}

}  // namespace kenaz::cli

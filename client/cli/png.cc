#include "client/cli/png.h"

#include <errno.h>
#include <fmt/format.h>
#include <png.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/base/replace_file.h"

namespace kenaz::cli {

namespace {

/// How an array is a picture.
struct Layout {
  int64_t height = 0, width = 0;
  int components = 1;   // in the file
  bool packed = false;  // 0xRRGGBB in one element
};

std::optional<Layout> layout_of(const data::Value& pixels) {
  const auto& shape = pixels.shape;
  const bool whole = pixels.type == PrimType::kI32 || pixels.type == PrimType::kU32;
  const bool part = pixels.type == PrimType::kU8 || is_float(pixels.type);
  if (shape.size() == 2 && whole) return Layout{shape[0], shape[1], 3, true};
  if (shape.size() == 2 && part) return Layout{shape[0], shape[1], 1, false};
  if (shape.size() == 3 && part && (shape[2] == 3 || shape[2] == 4)) {
    return Layout{shape[0], shape[1], static_cast<int>(shape[2]), false};
  }
  return std::nullopt;
}

png_byte component(PrimValue v) {
  if (!is_float(v.type)) return static_cast<png_byte>(v.bits);
  constexpr double kMost = 255;
  const double x = v.as_double();
  return static_cast<png_byte>(x > 0 ? std::lround(kMost * std::min(x, 1.0)) : 0);
}

}  // namespace

Status write_png(const std::string& path, const data::Value& pixels) {
  const auto layout = layout_of(pixels);
  if (!layout) {
    return bad_request(fmt::format(
        "a picture must be of type [][]i32, [][]u32, [][]u8 or [][]f32, or have 3 or 4 u8 or f32 "
        "per pixel; this is {}",
        pixels.type_name()));
  }
  constexpr int64_t kMaxSide = 1 << 20;
  if (layout->height < 1 || layout->width < 1 || layout->height > kMaxSide ||
      layout->width > kMaxSide) {
    return bad_request(
        fmt::format("no picture can have the shape {}", data::shape_text(pixels.shape)));
  }
  std::vector<png_byte> bytes;
  bytes.reserve(static_cast<size_t>(layout->height * layout->width * layout->components));
  for (int64_t i = 0; i < pixels.count(); ++i) {
    const PrimValue element = pixels.at(i);
    if (layout->packed) {
      bytes.push_back(static_cast<png_byte>(element.bits >> 16));
      bytes.push_back(static_cast<png_byte>(element.bits >> 8));
    }
    bytes.push_back(component(element));
  }
  // libpng's simplified interface: no longjmp reaches us.
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, 0, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(layout->width);
  image.height = static_cast<png_uint_32>(layout->height);
  image.format = kFormats[layout->components - 1];
  // png_image_write_to_file would remove its file, be it a device, when a write fails.
  return replace_file(path, [&](const std::string& to) -> Status {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(to.c_str(), "wb"), std::fclose);
    if (file && png_image_write_to_stdio(&image, file.get(), 0, bytes.data(), 0, nullptr) == 0) {
      return internal_error(fmt::format("cannot write {}: {}", path, image.message));
    }
    if (file && std::fclose(file.release()) == 0) return {};
    return internal_error(fmt::format("cannot write {}: {}", path, strerror(errno)));
  });
}

}  // namespace kenaz::cli

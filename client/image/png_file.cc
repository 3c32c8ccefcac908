// PNG, by libpng's own interface: the simplified one converts 16 bits to linear light.
//
// libpng leaves by longjmp, so no function that calls setjmp has objects with destructors.
#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <vector>

#include "client/image/picture.h"

namespace kenaz::image {

namespace {

void on_png_error(png_structp png, png_const_charp message) {
  std::snprintf(static_cast<char*>(png_get_error_ptr(png)), 200, "%s", message);
  png_longjmp(png, 1);
}
void on_png_warning(png_structp /*png*/, png_const_charp /*message*/) {}

struct Reading {
  char error[200] = "";
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, error, on_png_error, on_png_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};
struct Writing {
  char error[200] = "";
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, error, on_png_error, on_png_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  ~Writing() { png_destroy_write_struct(&png, &info); }
};

/// Up to where the rows begin, which will be BGRA of 8 or 16 bits, little endian.
bool read_head(Reading& r, std::FILE* file) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_init_io(r.png, file);
  png_read_info(r.png, r.info);
  png_set_expand(r.png);
  png_set_gray_to_rgb(r.png);
  png_set_bgr(r.png);
  const bool deep = png_get_bit_depth(r.png, r.info) == 16;
  if (deep) png_set_swap(r.png);
  png_set_add_alpha(r.png, deep ? 0xffff : 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reading& r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

bool write_rows(Writing& w, std::FILE* file, const Picture& picture, bool alpha, png_bytepp rows) {
  if (setjmp(png_jmpbuf(w.png)) != 0) return false;
  png_init_io(w.png, file);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(picture.width()),
               static_cast<png_uint_32>(picture.height()), picture.bits(),
               alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  png_set_bgr(w.png);
  if (picture.bits() == 16) png_set_swap(w.png);
  if (!alpha) png_set_filler(w.png, 0, PNG_FILLER_AFTER);  // which takes it away
  png_write_image(w.png, rows);
  png_write_end(w.png, w.info);
  return true;
}

std::vector<png_bytep> rows_of(const Picture& picture) {
  const size_t bytes = static_cast<size_t>(picture.width() * 4 * (picture.bits() / 8));
  std::vector<png_bytep> rows;
  auto* start = const_cast<std::byte*>(picture.pixels.bytes.data());
  for (int64_t y = 0; y < picture.height(); ++y) {
    rows.push_back(reinterpret_cast<png_bytep>(start + static_cast<size_t>(y) * bytes));
  }
  return rows;
}

bool is_opaque(const Picture& picture) {
  const size_t each = static_cast<size_t>(picture.bits() / 8);
  const auto& bytes = picture.pixels.bytes;
  for (size_t i = 3 * each; i < bytes.size(); i += 4 * each) {
    for (size_t k = 0; k < each; ++k) {
      if (bytes[i + k] != std::byte{0xff}) return false;
    }
  }
  return true;
}

}  // namespace

Result<Picture> read_png(std::FILE* file, const std::string& path) {
  Reading r;
  if (r.info == nullptr) return fail(ErrorKind::kOutOfMemory, path + ": there is no memory for it");
  if (!read_head(r, file)) return bad_request(fmt::format("{}: {}", path, r.error));
  const int64_t height = png_get_image_height(r.png, r.info);
  const int64_t width = png_get_image_width(r.png, r.info);
  KENAZ_TRY(check_size(height, width, path));
  Picture picture = empty_picture(height, width, png_get_bit_depth(r.png, r.info) == 16 ? 16 : 8);
  std::vector<png_bytep> rows = rows_of(picture);
  if (!read_rows(r, rows.data())) return bad_request(fmt::format("{}: {}", path, r.error));
  return picture;
}

Status write_png_file(std::FILE* file, const std::string& path, const Picture& picture) {
  Writing w;
  if (w.info == nullptr) return fail(ErrorKind::kOutOfMemory, path + ": there is no memory for it");
  std::vector<png_bytep> rows = rows_of(picture);
  if (!write_rows(w, file, picture, !is_opaque(picture), rows.data())) {
    return bad_request(fmt::format("cannot write {}: {}", path, w.error));
  }
  return {};
}

}  // namespace kenaz::image

// JPEG, by libjpeg-turbo, which leaves by longjmp: see png_file.cc.
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
// clang-format off: jpeglib.h needs stdio.
#include <jpeglib.h>
// jerror.h has what the settings in jpeglib.h say.
#include <jerror.h>
// clang-format on

#include "client/image/picture.h"

namespace kenaz::image {

namespace {

struct JpegReading {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf leave = {};
  char error[JMSG_LENGTH_MAX] = "";
  bool is_damaged = false;  // what `error` says of it then
  ~JpegReading() { jpeg_destroy_decompress(&jpeg); }
};

void on_jpeg_error(j_common_ptr jpeg) {
  auto* r = static_cast<JpegReading*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, r->error);
  std::longjmp(r->leave, 1);
}

/// Whether a warning tells of pixels that are missing or made up, and not of odd headers or bytes
/// too many, which pictures of cameras have.
bool tells_of_damage(int code) {
  return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
         code == JWRN_ARITH_BAD_CODE || code == JWRN_MUST_RESYNC;
}
void on_jpeg_message(j_common_ptr jpeg, int level) {
  auto* r = static_cast<JpegReading*>(jpeg->client_data);
  const bool warns = level < 0;  // others trace what it does
  if (!warns || r->is_damaged || !tells_of_damage(jpeg->err->msg_code)) return;
  r->is_damaged = true;
  jpeg->err->format_message(jpeg, r->error);
}

bool start_jpeg(JpegReading& r, std::FILE* file) {
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = on_jpeg_error;
  r.errors.emit_message = on_jpeg_message;
  r.jpeg.client_data = &r;
  if (setjmp(r.leave) != 0) return false;
  jpeg_create_decompress(&r.jpeg);
  r.jpeg.client_data = &r;
  jpeg_stdio_src(&r.jpeg, file);
  jpeg_read_header(&r.jpeg, TRUE);
  if (r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK) {
    std::snprintf(r.error, sizeof r.error, "JPEGs in CMYK are not read, only grey and RGB");
    return false;
  }
  r.jpeg.out_color_space = JCS_EXT_BGRA;  // opaque
  jpeg_start_decompress(&r.jpeg);
  return true;
}

bool read_lines(JpegReading& r, std::byte* pixels, size_t row_bytes) {
  if (setjmp(r.leave) != 0) return false;
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    auto* row = reinterpret_cast<JSAMPROW>(pixels + r.jpeg.output_scanline * row_bytes);
    jpeg_read_scanlines(&r.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&r.jpeg);
  return !r.is_damaged;
}

}  // namespace

Result<Picture> read_jpeg(std::FILE* file, const std::string& path) {
  JpegReading r;
  if (!start_jpeg(r, file)) return bad_request(fmt::format("{}: {}", path, r.error));
  KENAZ_TRY(check_size(r.jpeg.output_height, r.jpeg.output_width, path));
  Picture picture = empty_picture(r.jpeg.output_height, r.jpeg.output_width, 8);
  if (!read_lines(r, picture.pixels.bytes.data(), size_t{4} * r.jpeg.output_width)) {
    return bad_request(fmt::format("{}: {}", path, r.error));
  }
  return picture;
}

}  // namespace kenaz::image

// JPEG, by libjpeg-turbo, which leaves by longjmp: see png_file.cc.
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
// clang-format off: jpeglib.h needs stdio.
#include <jpeglib.h>
// clang-format on

#include "client/image/picture.h"

namespace kenaz::image {

namespace {

struct JpegReading {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf leave = {};
  char error[JMSG_LENGTH_MAX] = "";
  ~JpegReading() { jpeg_destroy_decompress(&jpeg); }
};

void on_jpeg_error(j_common_ptr jpeg) {
  auto* r = static_cast<JpegReading*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, r->error);
  std::longjmp(r->leave, 1);
}
void on_jpeg_message(j_common_ptr /*jpeg*/, int /*level*/) {}

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
  return true;
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

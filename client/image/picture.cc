#include "client/image/picture.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "protocol/base/replace_file.h"

namespace kenaz::image {

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<Error> file_error(const char* what, const std::string& path) {
  return bad_request(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

}  // namespace

Status check_size(int64_t height, int64_t width, const std::string& path) {
  constexpr int64_t kMaxSide = 1 << 20, kMaxPixels = int64_t{1} << 30;
  if (height >= 1 && width >= 1 && height <= kMaxSide && width <= kMaxSide &&
      height * width <= kMaxPixels) {
    return {};
  }
  return bad_request(
      fmt::format("{}: a picture of {} x {} pixels is too large, or empty", path, width, height));
}

Picture empty_picture(int64_t height, int64_t width, int bits) {
  Picture p;
  p.pixels.type = bits == 8 ? PrimType::kU8 : PrimType::kU16;
  p.pixels.shape = {height, width, 4};
  p.pixels.bytes.resize(static_cast<size_t>(height * width * 4 * (bits / 8)));
  return p;
}

Picture with_bits(Picture picture, int bits) {
  if (picture.bits() == bits) return picture;
  Picture other = empty_picture(picture.height(), picture.width(), bits);
  const size_t count = static_cast<size_t>(picture.pixels.count());
  const std::byte* from = picture.pixels.bytes.data();
  std::byte* to = other.pixels.bytes.data();
  for (size_t i = 0; i < count; ++i) {
    if (bits == 16) {
      to[2 * i] = to[2 * i + 1] = from[i];
    } else {
      to[i] = from[2 * i + 1];  // little endian: the upper byte
    }
  }
  return other;
}

bool is_picture(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

Result<Picture> read_picture(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error("open", path);
  unsigned char start[4] = {};
  const size_t n = std::fread(start, 1, sizeof start, file.get());
  if (n == 0 && std::ferror(file.get()) != 0) return file_error("read", path);
  std::rewind(file.get());
  if (n == 4 && std::memcmp(start, "\x89PNG", 4) == 0) return read_png(file.get(), path);
  if (n >= 2 && start[0] == 0xff && start[1] == 0xd8) return read_jpeg(file.get(), path);
  return bad_request(fmt::format("{}: this is neither a PNG nor a JPEG", path));
}

Status write_picture(const std::string& path, const Picture& picture) {
  return replace_file(path, [&](const std::string& to) -> Status {
    File file(std::fopen(to.c_str(), "wb"));
    if (!file) return file_error("write", path);
    Status written = write_png_file(file.get(), path, picture);
    if (std::fclose(file.release()) != 0 && written) written = file_error("write", path);
    return written;
  });
}

}  // namespace kenaz::image

#include "protocol/data/byte_source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kenaz::data {
namespace {
constexpr size_t kChunk = 1 << 16;
}

Result<ByteSource> ByteSource::open(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return bad_request(std::strerror(errno));
  return adopt(std::move(file));
}

Result<ByteSource> ByteSource::adopt(std::unique_ptr<std::FILE, int (*)(std::FILE*)> file) {
  ByteSource s;
  s.file_ = std::move(file);
  std::setvbuf(s.file_.get(), nullptr, _IONBF, 0);  // the chunk is the buffer
  struct stat info {};
  if (fstat(fileno(s.file_.get()), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return bad_request(std::strerror(EISDIR));
    if (S_ISREG(info.st_mode)) s.size_ = info.st_size;
  }
  s.chunk_.resize(kChunk);
  s.cursor_ = s.end_ = s.chunk_.data();
  return s;
}

bool ByteSource::refill() {
  if (!file_ || error_ || !may_take(0)) return false;
  base_ = offset();
  const auto left = static_cast<size_t>(end_ - cursor_);
  if (left != 0) std::memmove(chunk_.data(), cursor_, left);
  errno = 0;
  const size_t n = std::fread(chunk_.data() + left, 1, chunk_.size() - left, file_.get());
  if (n == 0 && std::ferror(file_.get())) error_ = std::strerror(errno);
  cursor_ = chunk_.data();
  end_ = cursor_ + left + n;
  return n != 0;
}

size_t ByteSource::read(std::span<std::byte> out) {
  const size_t buffered = std::min<size_t>(out.size(), static_cast<size_t>(end_ - cursor_));
  if (buffered != 0) std::memcpy(out.data(), cursor_, buffered);
  cursor_ += buffered;
  if (!file_ || error_ || buffered == out.size()) return buffered;
  base_ = offset();
  cursor_ = end_ = chunk_.data();
  errno = 0;
  const size_t n = std::fread(out.data() + buffered, 1, out.size() - buffered, file_.get());
  if (n < out.size() - buffered && std::ferror(file_.get())) error_ = std::strerror(errno);
  base_ += static_cast<int64_t>(n);
  return buffered + n;
}

std::optional<int64_t> ByteSource::remaining() const {
  if (!file_) return end_ - cursor_;
  if (!size_) return std::nullopt;
  return std::max<int64_t>(0, *size_ - offset());
}

std::string ByteSource::position() const {
  return fmt::format("line {}, column {}", line_, offset() - line_start_ + 1);
}

}  // namespace kenaz::data

#include "server/editor/frames.h"

#include <algorithm>
#include <cstdint>

#include "protocol/base/whole_number.h"

namespace kenaz::editor {

namespace {

constexpr std::string_view kLength = "content-length:";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The length that a line of a head says.
std::optional<uint64_t> length_in(std::string_view line) {
  if (line.size() < kLength.size() || !std::equal(kLength.begin(), kLength.end(), line.begin(),
                                                  [](char a, char b) { return a == lower(b); })) {
    return std::nullopt;
  }
  line.remove_prefix(kLength.size());
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  const auto n = whole_number<uint64_t>(line);
  return n && *n <= uint64_t{1} << 40 ? n : std::nullopt;
}

}  // namespace

void FrameReader::feed(std::string_view bytes) {
  const size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  buffer_.append(bytes.substr(skipped));
}

bool FrameReader::head() {
  std::optional<uint64_t> length;
  for (size_t at = 0;;) {
    const size_t end = buffer_.find('\n', at);
    if (end == std::string::npos || end > kLongestHead) {
      // Of a head without an end only its last line can become one.
      if (buffer_.size() > kLongestHead) {
        const size_t rest = end == std::string::npos ? buffer_.size() - kLength.size() : end + 1;
        buffer_.erase(0, std::max(at, rest));
        return !buffer_.empty() && end != std::string::npos;
      }
      return false;
    }
    const std::string_view line = std::string_view(buffer_).substr(at, end - at);
    at = end + 1;
    if (!line.empty() && line != "\r") {
      if (const auto said = length_in(line)) length = said;
      continue;
    }
    buffer_.erase(0, at);
    if (!length) return true;
    if (*length <= kLongest) {
      length_ = static_cast<size_t>(*length);
      return true;
    }
    const size_t here = std::min(static_cast<size_t>(*length), buffer_.size());
    buffer_.erase(0, here);
    skip_ = static_cast<size_t>(*length) - here;
    return skip_ == 0;
  }
}

std::optional<std::string> FrameReader::next() {
  while (!length_ && head()) {
  }
  if (!length_ || buffer_.size() < *length_) return std::nullopt;
  std::string body = buffer_.substr(0, *length_);
  buffer_.erase(0, *length_);
  length_.reset();
  return body;
}

std::string framed(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace kenaz::editor

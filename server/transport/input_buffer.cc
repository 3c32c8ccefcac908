#include "server/transport/input_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kenaz {

std::span<std::byte> InputBuffer::room(size_t n) {
  if (begin_ == end_) begin_ = end_ = scanned_ = 0;
  if (end_ == 0 && bytes_.capacity() > kKept) bytes_ = std::vector<char>(n);
  if (bytes_.size() - end_ < n) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, size());
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
    bytes_.reserve(capacity_with(n));
    if (bytes_.size() - end_ < n) bytes_.resize(end_ + n);
  }
  return std::as_writable_bytes(std::span(bytes_)).subspan(end_, n);
}

size_t InputBuffer::capacity_with(size_t n) const {
  const size_t needed = size() + n;
  return needed <= bytes_.capacity() ? bytes_.capacity() : std::max(needed, 2 * bytes_.capacity());
}

void InputBuffer::drop_line() {
  std::vector<char>(1).swap(bytes_);
  begin_ = end_ = scanned_ = 0;
  skipping_ = true;
}

InputBuffer::Line InputBuffer::take_line(size_t most, bool ended, std::string& line) {
  const char* from = bytes_.data() + scanned_;
  const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end_ - scanned_));
  if (newline == nullptr && !(ended && (size() > 0 || skipping_))) {
    if (size() > most) {
      skipping_ = true;
      begin_ = end_;
    }
    scanned_ = end_;
    return Line::kNone;
  }
  const size_t end = newline != nullptr ? static_cast<size_t>(newline - bytes_.data()) : end_;
  const bool too_long = std::exchange(skipping_, false) || end - begin_ > most;
  if (!too_long) line.assign(bytes_.data() + begin_, end - begin_);
  begin_ = scanned_ = std::min(end_, end + 1);
  return too_long ? Line::kTooLong : Line::kLine;
}

size_t InputBuffer::take(std::span<std::byte> to) {
  const size_t n = std::min(to.size(), size());
  std::memcpy(to.data(), bytes_.data() + begin_, n);
  begin_ += n;
  scanned_ = begin_;
  return n;
}

}  // namespace kenaz

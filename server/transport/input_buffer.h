// Bytes that have come and were not used yet, taken as lines or as they are.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace kenaz {

class InputBuffer {
 public:
  enum class Line { kNone, kLine, kTooLong };

  /// Room for `n` bytes more; committed() says how many of them came. Nothing may be taken between.
  std::span<std::byte> room(size_t n) {
    if (begin_ == end_) begin_ = end_ = scanned_ = 0;
    if (bytes_.size() - end_ < n) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, size());
      end_ -= begin_;
      scanned_ -= begin_;
      begin_ = 0;
      if (bytes_.size() - end_ < n) bytes_.resize(end_ + n);
    }
    return std::as_writable_bytes(std::span(bytes_)).subspan(end_, n);
  }
  void committed(size_t n) { end_ += n; }

  size_t size() const { return end_ - begin_; }

  /// The next line, without its newline. `ended`: no more bytes come, so that the last line may
  /// lack one. A line of more than `most` bytes is thrown away as it comes, and told when it ends.
  Line take_line(size_t most, bool ended, std::string& line);

  /// Bytes as they are; gives how many.
  size_t take(std::span<std::byte> to);

 private:
  std::vector<char> bytes_ = {'\0'};  // never empty: data() may be given to memmove
  size_t begin_ = 0, end_ = 0;
  size_t scanned_ = 0;     // there is no newline before
  bool skipping_ = false;  // within a line that is too long
};

}  // namespace kenaz

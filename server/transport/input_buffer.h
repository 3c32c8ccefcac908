// Bytes that have come and were not used yet, taken as lines or as they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kenaz {

class InputBuffer {
 public:
  enum class Line { kNone, kLine, kTooLong };

  /// Room for `n` bytes more; committed() says how many of them came. Nothing may be taken between.
  std::span<std::byte> room(size_t n);
  /// The memory that it has, and that it will have after room(n).
  size_t capacity() const { return bytes_.capacity(); }
  size_t capacity_with(size_t n) const;
  void committed(size_t n) { end_ += n; }

  size_t size() const { return end_ - begin_; }

  /// The next line, without its newline. `ended`: no more bytes come, so that the last line may
  /// lack one. A line of more than `most` bytes is thrown away as it comes, and told when it ends.
  Line take_line(size_t most, bool ended, std::string& line);

  /// Forgets the line that has begun; the rest of it is thrown away as it comes, and it is told as
  /// too long when it ends.
  void drop_line();

  /// Bytes as they are; gives how many.
  size_t take(std::span<std::byte> to);

 private:
  static constexpr size_t kKept = size_t{64} << 10;  // bytes, when they are not needed

  std::vector<char> bytes_ = {'\0'};  // never empty: data() may be given to memmove
  size_t begin_ = 0, end_ = 0;
  size_t scanned_ = 0;     // there is no newline before
  bool skipping_ = false;  // within a line that is too long
};

}  // namespace kenaz

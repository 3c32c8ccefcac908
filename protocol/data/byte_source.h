// Reads bytes in order, from memory or from a file in chunks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::data {

class ByteSource {
 public:
  /// Reads from `text`, which must outlive the source.
  explicit ByteSource(std::string_view text) : cursor_(text.data()), end_(cursor_ + text.size()) {}
  /// The error's message is that of the operating system ("No such file or directory").
  static Result<ByteSource> open(const std::string& path);
  /// Reads from the file's current position.
  static Result<ByteSource> adopt(std::unique_ptr<std::FILE, int (*)(std::FILE*)> file);

  /// `may_go_on` is asked before each chunk of a file, with 0, and by what reads values, with the
  /// bytes of memory that a value is about to take. If it says no, the source ends there.
  void ask(std::function<bool(int64_t)> may_go_on) { may_go_on_ = std::move(may_go_on); }
  bool may_take(int64_t bytes) { return !may_go_on_ || may_go_on_(bytes); }

  /// The next byte, or -1 at the end (or on a read error: see `error`).
  int peek() { return cursor_ != end_ || refill() ? static_cast<unsigned char>(*cursor_) : -1; }
  /// The byte after the next one, or -1.
  int peek_second() {
    if (end_ - cursor_ < 2) refill();
    return end_ - cursor_ < 2 ? -1 : static_cast<unsigned char>(cursor_[1]);
  }
  int get() {
    const int c = peek();
    if (c < 0) return c;
    ++cursor_;
    if (c == '\n') {
      ++line_;
      line_start_ = offset();
    }
    return c;
  }
  /// Fills `out`. Returns the number of bytes read, which is less only at the end or on an error.
  size_t read(std::span<std::byte> out);

  int64_t offset() const { return base_ + (cursor_ - begin_of_chunk()); }
  /// The number of bytes left, if it is known (memory and regular files).
  std::optional<int64_t> remaining() const;
  /// The operating system's message if reading failed, else empty.
  const std::optional<std::string>& error() const { return error_; }
  /// The position of the next byte, as "line 3, column 7".
  std::string position() const;

 private:
  ByteSource() = default;
  bool refill();  // keeps unread bytes; true if any were added
  const char* begin_of_chunk() const { return file_ ? chunk_.data() : end_ - memory_size_; }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};  // null: memory
  std::vector<char> chunk_;
  const char* cursor_ = nullptr;
  const char* end_ = nullptr;
  int64_t memory_size_ = end_ - cursor_;
  int64_t base_ = 0;  // offset of the chunk's first byte
  std::optional<int64_t> size_;
  std::optional<std::string> error_;
  std::function<bool(int64_t)> may_go_on_;
  int64_t line_ = 1, line_start_ = 0;
};

}  // namespace kenaz::data

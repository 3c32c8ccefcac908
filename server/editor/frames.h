// Messages on a stream of bytes: "Content-Length: 3\r\n\r\n" and so many bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kenaz::editor {

/// Takes messages out of what is fed to it. A head that says no length is skipped, and so are
/// bodies that are too long: what follows is read as if they had not been there.
class FrameReader {
 public:
  static constexpr size_t kLongest = size_t{64} << 20;  // bytes of a body
  static constexpr size_t kLongestHead = 4096;

  void feed(std::string_view bytes);
  /// The next whole message's body, or nothing until more has been fed.
  std::optional<std::string> next();

 private:
  /// Reads a head, if it is all there.
  bool head();

  std::string buffer_;
  size_t skip_ = 0;  // bytes of a body that is too long
  std::optional<size_t> length_;
};

/// The message with its head.
std::string framed(std::string_view body);

}  // namespace kenaz::editor

// Replies: output lines, perhaps `%%% FAILURE` and the lines of a message, then `%%% OK`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kenaz::protocol {

inline constexpr std::string_view kOk = "%%% OK";
inline constexpr std::string_view kFailure = "%%% FAILURE";

struct Reply {
  std::vector<std::string> output;
  std::optional<std::string> failure;  // its lines joined by newlines
};

/// Returns the text to send. A line of output or message that looks like a marker is indented.
std::string render(const Reply& reply);

/// Assembles a reply from lines as they arrive.
class ReplyReader {
 public:
  /// True if the line (without its newline) completed the reply.
  bool feed(std::string_view line);
  /// Returns the reply that `feed` completed, and starts the next one.
  Reply take();

 private:
  Reply reply_;
  bool complete_ = false;
};

}  // namespace kenaz::protocol

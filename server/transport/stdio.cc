#include "server/transport/stdio.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kenaz {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

bool LineReader::refill() {
  if (buffer_.empty()) buffer_.resize(size_t{1} << 16);
  while (true) {
    const ssize_t n = read(fd_, buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    begin_ = 0;
    end_ = n > 0 ? static_cast<size_t>(n) : 0;
    return n > 0;
  }
}

LineReader::Line LineReader::next(std::string& line) {
  line.clear();
  bool too_long = false, any = false;
  while (begin_ != end_ || refill()) {
    any = true;
    const char* start = buffer_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(start, '\n', end_ - begin_));
    const size_t n = newline != nullptr ? static_cast<size_t>(newline - start) : end_ - begin_;
    if (line.size() + n > max_line_) too_long = true;
    if (!too_long) line.append(start, n);
    begin_ += n + (newline != nullptr ? 1 : 0);
    if (newline != nullptr) return too_long ? Line::kTooLong : Line::kLine;
  }
  if (!any) return Line::kEnd;
  return too_long ? Line::kTooLong : Line::kLine;
}

bool serve_lines(Session& session, int in, int out) {
  if (!write_all(out, protocol::render({}))) return false;
  LineReader reader(in);
  std::string line;
  while (true) {
    const auto what = reader.next(line);
    if (what == LineReader::Line::kEnd) return true;
    protocol::Reply reply;
    if (what == LineReader::Line::kTooLong) {
      reply.failure = fmt::format("Line too long: more than {} bytes.", protocol::kMaxLine);
    } else {
      reply = session.execute(line);
    }
    if (!write_all(out, protocol::render(reply))) return false;
  }
}

}  // namespace kenaz

#include "server/transport/stdio.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kenaz {
namespace {

// A client that measures calls sends the next command within this.
constexpr std::chrono::microseconds kBetweenCommands{200};

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

/// As ::read, but it asks for a while before it sleeps, if it is expected to.
ssize_t LineReader::read_some(void* out, size_t bytes) {
  if (const auto patience = std::exchange(patience_, {}); patience.count() > 0) {
    const auto until = std::chrono::steady_clock::now() + patience;
    pollfd input{fd_, POLLIN, 0};
    while (poll(&input, 1, 0) == 0 && std::chrono::steady_clock::now() < until) sched_yield();
  }
  while (true) {
    const ssize_t n = ::read(fd_, out, bytes);
    if (n >= 0 || errno != EINTR) return n;
  }
}

size_t LineReader::read(std::span<std::byte> out) {
  if (begin_ != end_) {
    const size_t n = std::min(out.size(), end_ - begin_);
    std::memcpy(out.data(), buffer_.data() + begin_, n);
    begin_ += n;
    return n;
  }
  const ssize_t n = read_some(out.data(), out.size());
  return n > 0 ? static_cast<size_t>(n) : 0;
}

bool LineReader::refill() {
  if (buffer_.empty()) buffer_.resize(size_t{1} << 16);
  const ssize_t n = read_some(buffer_.data(), buffer_.size());
  begin_ = 0;
  end_ = n > 0 ? static_cast<size_t>(n) : 0;
  return n > 0;
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

namespace {

/// False if the data ended early, or nobody reads the reply.
bool run_stream(Stream& stream, LineReader& reader, int out) {
  while (true) {
    switch (stream.want()) {
      case Stream::Want::kDone: return true;
      case Stream::Want::kWork: stream.work(); break;
      case Stream::Want::kAside: stream.aside(); break;
      case Stream::Want::kInput: {
        const size_t n = reader.read(stream.input());
        if (n == 0) return false;
        stream.advance(n);
        break;
      }
      case Stream::Want::kOutput: {
        const auto bytes = stream.output();
        if (!write_all(out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
          return false;
        }
        stream.advance(bytes.size());
        break;
      }
    }
  }
}

/// False if no further command can be read.
bool run_line(Session& session, const std::string& line, LineReader& reader, int out) {
  const auto request = protocol::parse_request(line);
  if (!request || request->command->where != protocol::Where::kStream) {
    const auto reply = request ? session.execute(*request) : session.execute(line);
    return write_all(out, protocol::render(reply));
  }
  const auto stream = session.begin(*request);
  if (!stream) {
    const bool synchronous = request->command->reply == protocol::ReplyForm::kData;
    return write_all(out, protocol::render({{}, stream.error().text()})) && synchronous;
  }
  return run_stream(**stream, reader, out) &&
         write_all(out, protocol::render(session.end(**stream)));
}

}  // namespace

bool serve_lines(Session& session, int in, int out, size_t max_line) {
  if (!write_all(out, protocol::render({}))) return false;
  LineReader reader(in, max_line);
  std::string line;
  while (true) {
    if (session.polls_device()) reader.expect_soon(kBetweenCommands);
    const auto what = reader.next(line);
    if (what == LineReader::Line::kEnd) return true;
    if (session.metrics() != nullptr) session.metrics()->commanded(1);
    if (what == LineReader::Line::kTooLong) {
      const protocol::Reply reply{{}, fmt::format("Line too long: more than {} bytes.", max_line)};
      if (!write_all(out, protocol::render(reply))) return false;
    } else if (!run_line(session, line, reader, out)) {
      return false;
    }
  }
}

}  // namespace kenaz

#include "client/lib/bridge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "client/lib/files.h"
#include "protocol/command.h"

namespace kenaz::client {

bool LineInput::refill() {
  if (buffer_.empty()) buffer_.resize(size_t{1} << 16);
  for (;;) {
    const ssize_t n = ::read(fd_, buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    begin_ = 0;
    end_ = n > 0 ? static_cast<size_t>(n) : 0;
    return n > 0;
  }
}

bool LineInput::next(std::string& line) {
  line.clear();
  bool any = false;
  while (begin_ != end_ || refill()) {
    any = true;
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    if (newline != nullptr) {
      const auto n = static_cast<size_t>(static_cast<const char*>(newline) - start);
      line.append(start, n);
      begin_ += n + 1;
      return true;
    }
    line.append(start, end_ - begin_);
    begin_ = end_;
  }
  return any;
}

size_t LineInput::read(std::span<char> out) {
  if (begin_ == end_ && !refill()) return 0;
  const size_t n = std::min(out.size(), end_ - begin_);
  std::memcpy(out.data(), buffer_.data() + begin_, n);
  begin_ += n;
  return n;
}

Result<protocol::Reply> execute_here(Connection& server, const std::string& line) {
  const auto request = protocol::parse_request(line);
  if (request) {
    const auto& args = request->args;
    if (request->command->id == protocol::CommandId::kStore) {
      return store_here(server, args[0], {args.begin() + 1, args.end()});
    }
    if (request->command->id == protocol::CommandId::kRestore) {
      return restore_here(server, args[0], {args.begin() + 1, args.end()});
    }
  }
  // All others are the server's affair, also those that only it knows.
  KENAZ_TRY(server.send_line(line));
  return server.receive();
}

namespace {

class Bridge {
 public:
  Bridge(Connection& server, int in, int out) : server_(server), in_(in), out_(out) {}

  Status run() {
    KENAZ_TRY(say(protocol::render({server_.greeting(), {}})));
    std::string line;
    while (in_.next(line)) KENAZ_TRY(execute(line));
    return {};
  }

 private:
  Status execute(const std::string& line) {
    const auto request = protocol::parse_request(line);
    if (request && request->command->where == protocol::Where::kStream) {
      if (request->command->reply == protocol::ReplyForm::kData) return download(line);
      return upload(line, *protocol::bytes_that_follow(*request));
    }
    KENAZ_ASSIGN(const auto reply, execute_here(server_, line));
    return say(protocol::render(reply));
  }

  Status upload(const std::string& line, const std::string& count) {
    int64_t left = 0;
    std::from_chars(count.data(), count.data() + count.size(), left);
    KENAZ_TRY(server_.send_line(line));
    std::vector<char> chunk(kChunk);
    while (left > 0) {
      const size_t want = static_cast<size_t>(std::min<int64_t>(left, kChunk));
      const size_t n = in_.read(std::span(chunk).first(want));
      if (n == 0) return internal_error("the standard input ends inside an upload");
      KENAZ_TRY(server_.send_bytes({chunk.data(), n}));
      left -= static_cast<int64_t>(n);
    }
    KENAZ_ASSIGN(const auto reply, server_.receive());
    return say(protocol::render(reply));
  }

  Status download(const std::string& line) {
    KENAZ_TRY(server_.send_line(line));
    const auto count = server_.receive_count();
    if (!count) return refused(count.error());
    KENAZ_TRY(say(fmt::format("{}\n", *count)));
    std::vector<char> chunk(kChunk);
    while (server_.untaken() > 0) {
      const auto part =
          std::span(chunk).first(static_cast<size_t>(std::min<int64_t>(server_.untaken(), kChunk)));
      KENAZ_TRY(server_.take(std::as_writable_bytes(part)));
      KENAZ_TRY(say({part.data(), part.size()}));
    }
    if (const auto end = server_.receive_end(); !end) return refused(end.error());
    return say(protocol::render({}));
  }

  Status refused(const Error& error) {
    if (error.kind != ErrorKind::kProgramFailure) return tl::make_unexpected(error);
    return say(protocol::render({{}, error.message}));
  }

  Status say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(out_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return internal_error(fmt::format("standard output: {}", std::strerror(errno)));
      text.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  }

  static constexpr size_t kChunk = size_t{1} << 20;
  Connection& server_;
  LineInput in_;
  const int out_;
};

}  // namespace

Status run_bridge(Connection& server, int in, int out) { return Bridge(server, in, out).run(); }

}  // namespace kenaz::client

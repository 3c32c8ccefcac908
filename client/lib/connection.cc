#include "client/lib/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "client/lib/socket_stream.h"
#include "client/lib/temp_dir.h"
#include "protocol/base/whole_number.h"
#include "protocol/command.h"

namespace kenaz::client {
namespace {

constexpr size_t kStderrTail = 4000;
// A reply line longer than this is a server gone wrong.
constexpr size_t kMaxLine = size_t{256} << 20;

EntryParam parse_param(std::string line) {
  if (line.starts_with("*")) return {line.substr(1), true};
  return {std::move(line), false};
}

}  // namespace

std::string default_server() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "kenaz-server";
  return (self.parent_path() / "kenaz-server").string();
}

std::vector<std::string> server_command(const ServerOptions& options) {
  std::vector<std::string> argv = {options.server};
  if (options.reference) argv.push_back("--reference");
  if (!options.stage.empty()) argv.insert(argv.end(), {"--stage", options.stage});
  if (!options.device.empty()) argv.insert(argv.end(), {"--device", options.device});
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  if (!options.program.empty()) argv.push_back(options.program);
  return argv;
}

Result<std::unique_ptr<Connection>> Connection::start(const ServerOptions& options,
                                                      Deadline deadline) {
  KENAZ_ASSIGN(auto c, launch(options));
  KENAZ_TRY(c->wait_for_greeting(deadline));
  return c;
}

Result<std::unique_ptr<Connection>> Connection::launch(const ServerOptions& options) {
  const ProcessOptions child{server_command(options), options.stderr_path, options.memory_limit,
                             options.ignores_interrupts};
  KENAZ_ASSIGN(auto process, Process::spawn(child));
  return std::unique_ptr<Connection>(new Connection(std::move(process), options.stderr_path));
}

Status Connection::wait_for_greeting(Deadline deadline) {
  deadline_ = deadline;
  return greet();
}

Result<std::unique_ptr<Connection>> Connection::connect(std::string_view url,
                                                        const ConnectOptions& options,
                                                        Deadline deadline) {
  KENAZ_ASSIGN(const Url where, parse_url(url));
  KENAZ_ASSIGN(auto stream, connect_stream(where, options.ca_file, deadline));
  std::unique_ptr<Connection> c(new Connection(std::move(stream), ""));
  c->deadline_ = deadline;
  KENAZ_TRY(c->greet());
  if (!options.token.empty()) KENAZ_TRY(c->request({"auth", options.token}));
  if (!options.session_name.empty()) KENAZ_TRY(c->request({"attach", options.session_name}));
  return c;
}

Status Connection::greet() {
  KENAZ_ASSIGN(auto greeting, receive());
  if (greeting.failure) return internal_error("the server refuses: " + *greeting.failure);
  greeting_ = std::move(greeting.output);
  greeted_ = true;
  return {};
}

Result<protocol::Reply> Connection::command(const std::vector<std::string>& words) {
  KENAZ_TRY(send(words));
  return receive();
}

Status Connection::send(const std::vector<std::string>& words) {
  KENAZ_ASSIGN(const std::string line, protocol::join_words(words));
  return send_line(line);
}

Status Connection::send_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  return send_bytes(text);
}

Status Connection::send_bytes(std::string_view bytes) {
  if (broken_) return tl::unexpected<Error>(*broken_);
  // If it cannot be written the server is gone; reading finds out how it ended.
  const auto written = stream_->write(bytes, deadline_);
  if (!written && Clock::now() >= deadline_) return lost("did not answer in time");
  return {};
}

Result<std::string> Connection::read_line() {
  std::string line;
  for (;;) {
    const char* start = chunk_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    const size_t n = newline != nullptr
                         ? static_cast<size_t>(static_cast<const char*>(newline) - start)
                         : end_ - begin_;
    line.append(start, n);
    begin_ += n;
    if (newline != nullptr) {
      ++begin_;
      return line;
    }
    if (line.size() > kMaxLine) return lost("sends a line without an end");
    const auto got = stream_->read_some(chunk_, deadline_);
    if (!got) return lost_late(got.error());
    if (*got == 0) return lost("ended");
    begin_ = 0;
    end_ = *got;
  }
}

Result<protocol::Reply> Connection::receive() {
  if (broken_) return tl::unexpected<Error>(*broken_);
  protocol::ReplyReader reader;
  for (;;) {
    KENAZ_ASSIGN(const std::string line, read_line());
    if (reader.feed(line)) return reader.take();
  }
}

Result<int64_t> Connection::receive_count(int64_t elsewhere) {
  if (broken_) return tl::unexpected<Error>(*broken_);
  protocol::ReplyReader reader;
  for (;;) {
    KENAZ_ASSIGN(const std::string line, read_line());
    if (const auto count = whole_number<int64_t>(line); count && *count >= 0) {
      untaken_ = *count <= elsewhere ? 0 : *count;
      return *count;
    }
    if (!reader.feed(line)) continue;
    const protocol::Reply reply = reader.take();
    if (reply.failure) return fail(ErrorKind::kProgramFailure, *reply.failure);
    return internal_error("the server answers without saying how many bytes come");
  }
}

Status Connection::take(std::span<std::byte> out) {
  if (broken_) return tl::unexpected<Error>(*broken_);
  if (static_cast<int64_t>(out.size()) > untaken_) {
    return internal_error("the values that the server sends end too early");
  }
  untaken_ -= static_cast<int64_t>(out.size());
  const size_t here = std::min(out.size(), end_ - begin_);
  if (here > 0) std::memcpy(out.data(), chunk_.data() + begin_, here);
  begin_ += here;
  out = out.subspan(here);
  while (!out.empty()) {
    const auto got =
        stream_->read_some({reinterpret_cast<char*>(out.data()), out.size()}, deadline_);
    if (!got) return lost_late(got.error());
    if (*got == 0) return lost("ended");
    out = out.subspan(*got);
  }
  return {};
}

Status Connection::skip() {
  std::vector<std::byte> rest(static_cast<size_t>(std::min<int64_t>(untaken_, 1 << 20)));
  while (untaken_ > 0) {
    const auto n = std::min<int64_t>(untaken_, static_cast<int64_t>(rest.size()));
    KENAZ_TRY(take(std::span(rest).first(static_cast<size_t>(n))));
  }
  return {};
}

Status Connection::receive_end() {
  KENAZ_TRY(skip());
  KENAZ_ASSIGN(const auto reply, receive());
  if (reply.failure) return fail(ErrorKind::kProgramFailure, *reply.failure);
  return {};
}

void Connection::give_up(const std::string& why) {
  if (!broken_) lost("is given up: " + why);
}

tl::unexpected<Error> Connection::lost_late(const Error& error) {
  if (Clock::now() >= deadline_) return lost("did not answer in time");
  const std::string& why = error.message;
  return lost(why.starts_with("it ") ? why.substr(3) : "is lost: " + why);
}

tl::unexpected<Error> Connection::lost(const std::string& why) {
  std::string text = "the server " + (why == "ended" ? stream_->ending() : why);
  const bool rejected = !greeted_ && why == "ended" && stream_->rejected();
  stream_->abandon();
  if (rejected) text.clear();
  if (!stderr_path_.empty()) {
    if (const auto log = read_file(stderr_path_); log && !log->empty()) {
      text += (rejected ? "" : ":\n") + tail(*log, kStderrTail);
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  broken_ = Error{rejected ? ErrorKind::kCompile : ErrorKind::kInternal, text, {}};
  return tl::unexpected<Error>(*broken_);
}

Result<std::vector<std::string>> Connection::request(const std::vector<std::string>& words) {
  KENAZ_ASSIGN(auto reply, command(words));
  if (reply.failure) return fail(ErrorKind::kProgramFailure, *reply.failure);
  return std::move(reply.output);
}

Result<std::string> Connection::request_line(const std::vector<std::string>& words) {
  KENAZ_ASSIGN(auto lines, request(words));
  if (lines.size() != 1) {
    return internal_error(
        fmt::format("the server answered '{}' with {} lines, not 1", words[0], lines.size()));
  }
  return std::move(lines[0]);
}

Result<std::vector<EntryParam>> Connection::inputs(const std::string& entry) {
  KENAZ_ASSIGN(auto lines, request({"inputs", entry}));
  std::vector<EntryParam> params;
  for (auto& line : lines) params.push_back(parse_param(std::move(line)));
  return params;
}

Result<EntryParam> Connection::output(const std::string& entry) {
  KENAZ_ASSIGN(auto line, request_line({"output", entry}));
  return parse_param(std::move(line));
}

Result<std::optional<std::vector<std::pair<std::string, std::string>>>> Connection::fields(
    const std::string& type) {
  KENAZ_ASSIGN(const auto reply, command({"fields", type}));
  std::optional<std::vector<std::pair<std::string, std::string>>> all;
  if (reply.failure) return all;
  all.emplace();
  for (const auto& line : reply.output) {
    const auto space = line.find(' ');
    if (space == std::string::npos) {
      return internal_error(fmt::format("cannot understand the field '{}'", line));
    }
    all->emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return all;
}

Result<ExitStatus> Connection::finish() {
  if (broken_) return tl::unexpected<Error>(*broken_);
  stream_->close_input();
  const auto status = stream_->finish(std::min(deadline_, deadline_in(30)));
  if (!status) return lost_late(status.error());
  broken_ = Error{ErrorKind::kInternal, "the server has ended", {}};
  return *status;
}

}  // namespace kenaz::client

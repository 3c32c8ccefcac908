#include "client/lib/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "client/lib/temp_dir.h"
#include "protocol/command.h"

namespace kenaz::client {
namespace {

constexpr size_t kStderrTail = 4000;

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
  if (!options.device.empty()) argv.insert(argv.end(), {"--device", options.device});
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  argv.push_back(options.program);
  return argv;
}

Result<std::unique_ptr<Connection>> Connection::start(const ServerOptions& options,
                                                      Deadline deadline) {
  ProcessOptions child{server_command(options), options.stderr_path, options.memory_limit};
  KENAZ_ASSIGN(auto process, Process::spawn(child));
  std::unique_ptr<Connection> c(new Connection(std::move(process), options));
  c->deadline_ = deadline;
  KENAZ_ASSIGN(auto greeting, c->read_reply());
  if (greeting.failure) return internal_error(*greeting.failure);
  c->greeting_ = std::move(greeting.output);
  return c;
}

Result<protocol::Reply> Connection::command(const std::vector<std::string>& words) {
  if (broken_) return tl::unexpected<Error>(*broken_);
  KENAZ_ASSIGN(std::string text, protocol::join_words(words));
  text += '\n';
  // If it cannot be written the server is gone; reading finds out how it ended.
  const auto written = process_->write(text, deadline_);
  if (!written && Clock::now() >= deadline_) return lost("did not answer in time");
  return read_reply();
}

Result<protocol::Reply> Connection::read_reply() {
  protocol::ReplyReader reader;
  for (;;) {
    auto line = process_->read_line(deadline_);
    if (!line) {
      return lost(Clock::now() >= deadline_ ? "did not answer in time" : line.error().message);
    }
    if (!*line) return lost("ended");
    if (reader.feed(**line)) return reader.take();
  }
}

tl::unexpected<Error> Connection::lost(const std::string& why) {
  std::string text = "the server " + why;
  if (why == "ended") {
    const auto status = process_->wait(deadline_in(2));
    text = "the server " + (status ? status->text() : std::string("closed its output"));
  }
  process_->kill();
  if (!options_.stderr_path.empty()) {
    if (const auto log = read_file(options_.stderr_path); log && !log->empty()) {
      text += ":\n" + tail(*log, kStderrTail);
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  broken_ = Error{ErrorKind::kInternal, text, {}};
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
  process_->close_input();
  const auto status = process_->wait(std::min(deadline_, deadline_in(30)));
  if (!status) return lost("does not end when its input does");
  broken_ = Error{ErrorKind::kInternal, "the server has ended", {}};
  return *status;
}

}  // namespace kenaz::client

// Runs protocol transcripts against a server:
//
//   transcript_test [--update] FILE.txt.. -- SERVER OPTION..
//
// A transcript names the program and says what is sent and what must come back:
//
//   # a comment
//   program squares.fut          the program to serve, beside the transcript; first
//   file xs [1i32, 2i32]         writes a file in the transcript's own folder, which {} stands for
//   > restore {}/xs xs []i32     a command
//   %%% OK                       its whole reply; run times are compared as "runtime: N"
//   > upload 11 x i32            a command that bytes follow:
//   data 7i32                    values to be sent in the binary format; then comes the reply
//   show {}/out                  the values in a file that a command stored, at the end
//   [1i32, 4i32]
//   exit 1                       the server's exit status, if not 0
//
// The bytes that a download answers are shown as values, too. Every reply must also have the form
// that protocol/commands.def promises.
//
// --update writes what came into the transcript.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/command.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"
#include "protocol/reply.h"

namespace kenaz {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One line of a transcript that does something, with what must come of it.
struct Step {
  std::string line;
  Lines expected, got;
};

void replace_all(std::string& line, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = line.find(what, at)) != std::string::npos; at += with.size()) {
    line.replace(at, what.size(), with);
  }
}

std::string with_folder(std::string text, const fs::path& folder) {
  replace_all(text, "{}", folder.string());
  return text;
}

/// What depends on places and times made equal: programs are named without their folder.
std::string normalised(std::string line, const fs::path& folder, const fs::path& programs) {
  replace_all(line, folder.string(), "{}");
  replace_all(line, programs.string() + "/", "");
  if (line.starts_with("Commands are: ")) return "Commands are: ALL";
  return line.starts_with("runtime: ") ? "runtime: N" : line;
}

bool is_step(const std::string& line) {
  return line.starts_with("> ") || line.starts_with("data ") || line == ">" ||
         line.starts_with("show ") || line.starts_with("file ") || line.starts_with("program ") ||
         line.starts_with("exit ");
}

/// Within a reply, blank lines and lines with # belong to it.
std::vector<Step> parse(const std::string& text) {
  std::vector<Step> steps;
  bool in_reply = false;
  for (const auto& line : lines_of(text)) {
    const bool comment = line.empty() || line.starts_with("#");
    if (is_step(line) || (comment && !in_reply)) {
      steps.push_back({line, {}, {}});
      in_reply = line.starts_with(">") || line.starts_with("data ");
    } else {
      if (steps.empty()) steps.emplace_back();
      steps.back().expected.push_back(line);
      if (line == protocol::kOk) in_reply = false;
    }
  }
  return steps;
}

int run_server(Lines command, const fs::path& input, const fs::path& output) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (auto& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    alarm(120);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Lines shown(const Result<std::vector<data::Value>>& values) {
  if (!values) return lines_of(values.error().text());
  Lines lines;
  for (const auto& v : *values) lines.push_back(data::to_text(v));
  return lines;
}

Lines shown_file(const fs::path& path) {
  auto source = data::ByteSource::open(path.string());
  if (!source) return lines_of(source.error().text());
  return shown(data::read_values(*source));
}

/// Values as text in the binary format.
std::string as_binary(const std::string& text) {
  const auto values = data::read_values(text);
  if (!values) return text;
  std::string bytes;
  for (const auto& v : *values) data::append_binary(v, bytes);
  return bytes;
}

/// What the server wrote, taken piece by piece.
class Output {
 public:
  explicit Output(std::string text) : text_(std::move(text)) {}
  bool at_end() const { return at_ >= text_.size(); }
  std::string line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  std::string bytes(size_t n) {
    std::string bytes = text_.substr(std::min(at_, text_.size()), n);
    at_ += bytes.size();
    return bytes;
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

std::optional<size_t> as_number(const std::string& text) {
  size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

/// Figures that are different each time.
std::string without_figures(const protocol::CommandInfo& command, const std::string& line) {
  if (command.id == protocol::CommandId::kDevices) {
    static const std::regex kDevice(R"(^(#\d+ \w+) \d+ \d+ \d+ .+$)");
    return std::regex_replace(line, kDevice, "$1 SESSIONS CALLS BYTES NAME");
  }
  if (command.id != protocol::CommandId::kStats && command.id != protocol::CommandId::kReport) {
    return line;
  }
  static const std::regex kFigure(R"(([ :])\d+(\.\d+)?)");
  return std::regex_replace(line, kFigure, "$1N");
}

/// What is wrong with a reply's form by the table of commands; empty if nothing is.
std::string form_problem(const protocol::CommandInfo& command, const Lines& reply) {
  using protocol::ReplyForm;
  const auto failure = std::find(reply.begin(), reply.end(), protocol::kFailure);
  const bool failed = failure != reply.end();
  if (reply.empty() || reply.back() != protocol::kOk) return "no end";
  const auto lines = (failed ? failure - reply.begin() : std::ssize(reply) - 1);
  if (failed && command.reply != ReplyForm::kCall) {
    return lines == 0 ? "" : "output before the failure";
  }
  switch (command.reply) {
    case ReplyForm::kNothing: return lines == 0 ? "" : "output where there must be none";
    case ReplyForm::kLine: return lines == 1 ? "" : "not one line";
    case ReplyForm::kLines: return "";
    case ReplyForm::kCall:
      if (failed && lines == 0) return "";
      return lines > 0 && reply[static_cast<size_t>(lines - 1)].starts_with("runtime: ")
                 ? ""
                 : "no run time";
    case ReplyForm::kData: return as_number(reply[0]) ? "" : "no number of bytes";
  }
  return "no form";
}

class Transcript {
 public:
  Transcript(fs::path path, fs::path folder)
      : path_(std::move(path)), folder_(std::move(folder)), steps_(parse(read_file(path_))) {}

  void run(const Lines& server) {
    Lines command = server;
    std::string input;
    for (const auto& step : steps_) {
      const std::string line = with_folder(step.line, folder_);
      if (line.starts_with("program ")) {
        command.push_back((path_.parent_path() / line.substr(8)).string());
      } else if (line.starts_with("file ")) {
        const size_t space = std::min(line.find(' ', 5), line.size());
        std::ofstream(folder_ / line.substr(5, space - 5)) << line.substr(space) << "\n";
      } else if (line.starts_with(">")) {
        input += line.substr(std::min<size_t>(2, line.size())) + "\n";
      } else if (line.starts_with("data ")) {
        input += as_binary(line.substr(5));
      }
    }
    std::ofstream(folder_ / ".in") << input;
    const int status = run_server(command, folder_ / ".in", folder_ / ".out");
    distribute(Output(read_file(folder_ / ".out")));
    for (auto& step : steps_) {
      if (step.line.starts_with("show ")) {
        step.got = shown_file(with_folder(step.line.substr(5), folder_));
      }
      if (step.line.starts_with("exit ")) exit_line_ = &step;
    }
    const std::string exit = fmt::format("exit {}", status);
    if (exit_line_ != nullptr ? exit_line_->line != exit : status != 0) {
      problem_ = fmt::format("the server ended with {}", exit);
    }
  }

  /// Prints what differs.
  bool report() const {
    bool good = problem_.empty();
    if (!good) fmt::print("{}: {}\n", path_.string(), problem_);
    for (const auto& step : steps_) {
      if (step.got == step.expected) continue;
      good = false;
      fmt::print("{}: {}\n", path_.string(), step.line);
      for (const auto& l : step.expected) fmt::print("  expected: {}\n", l);
      for (const auto& l : step.got) fmt::print("  got:      {}\n", l);
    }
    return good;
  }

  void update() const {
    std::ofstream out(path_);
    for (const auto& step : steps_) {
      out << step.line << "\n";
      for (const auto& l : step.got) out << l << "\n";
    }
  }

 private:
  /// Gives every command its reply. The first one says that the server is ready.
  void distribute(Output output) {
    while (!output.at_end() && output.line() != protocol::kOk) {
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const std::string& line = steps_[i].line;
      if (!line.starts_with(">")) continue;
      const auto words = protocol::split_line(line.substr(1));
      const auto* command = words.empty() ? nullptr : protocol::find_command(words[0]);
      const bool with_data = i + 1 < steps_.size() && steps_[i + 1].line.starts_with("data ");
      Lines& reply = steps_[i + (with_data ? 1 : 0)].got;
      // Values that had room in shared memory do not come here.
      const bool shared = words.size() > 2 && words[0] == "download_shared";
      const auto elsewhere = shared ? as_number(words[2]) : std::nullopt;
      take_reply(output, command, elsewhere, reply);
      const std::string problem = command != nullptr ? form_problem(*command, reply) : "";
      if (!problem.empty() && problem_.empty()) problem_ = line + ": " + problem;
    }
    if (!output.at_end()) problem_ = "more output than replies: " + output.line();
  }

  /// Of data that is no more than so many bytes, the reply has the number only.
  void take_reply(Output& output, const protocol::CommandInfo* command,
                  std::optional<size_t> elsewhere, Lines& reply) const {
    while (!output.at_end()) {
      std::string line = normalised(output.line(), folder_, path_.parent_path());
      reply.push_back(command != nullptr ? without_figures(*command, line) : line);
      if (line == protocol::kOk) return;
      if (command == nullptr || command->reply != protocol::ReplyForm::kData) continue;
      if (const auto n = as_number(line);
          n && reply.size() == 1 && !(elsewhere && *n <= *elsewhere)) {
        for (const auto& v : shown(data::read_values(output.bytes(*n)))) reply.push_back(v);
      }
    }
  }

  const fs::path path_, folder_;
  std::vector<Step> steps_;
  const Step* exit_line_ = nullptr;
  std::string problem_;
};

int run_all(const Lines& files, const Lines& server, bool update) {
  std::string name = (fs::temp_directory_path() / "kenaz_transcript_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  int bad = 0;
  for (const auto& file : files) {
    const fs::path folder = fs::path(name) / fs::path(file).stem();
    fs::create_directory(folder);
    Transcript transcript(file, folder);
    transcript.run(server);
    if (update) {
      transcript.update();
    } else if (!transcript.report()) {
      ++bad;
    }
  }
  fs::remove_all(name);
  fmt::print("{} of {} transcripts are as expected\n", files.size() - static_cast<size_t>(bad),
             files.size());
  return bad == 0 && !files.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kenaz

int main(int argc, char** argv) {
  kenaz::Lines files, server;
  bool update = false, after = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (!after && arg == "--") {
      after = true;
    } else if (!after && arg == "--update") {
      update = true;
    } else {
      (after ? server : files).push_back(arg);
    }
  }
  if (server.empty()) {
    fmt::print(stderr, "usage: transcript_test [--update] FILE.txt.. -- SERVER OPTION..\n");
    return 1;
  }
  return kenaz::run_all(files, server, update);
}

// kenaz shell: a person talks to a server. What is no command of the shell goes to the server.
// editline's header leaves stdio to its includers.
#include <cstdio>
// clang-format off
#include <editline/readline.h>
// clang-format on
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "client/cli/plot.h"
#include "client/cli/png.h"
#include "client/cli/script_call.h"
#include "client/cli/show.h"
#include "client/cli/subcommands.h"
#include "client/lib/bridge.h"
#include "client/lib/client.h"
#include "client/lib/url.h"
#include "protocol/base/trimmed.h"
#include "protocol/command.h"
#include "protocol/data/values.h"

namespace kenaz::cli {
namespace {

constexpr const char* kShellHelp = R"(Of the shell:
  let NAME = VALUE     Make a variable: let xs = [1f32, 2, 3], let p = {x = 1, y = 2}, let q = p.x,
                       let s = #circle p 5, let t = (1, true)
  let NAME: TYPE = ..  The same, where several of the program's types fit
  print VAR..          Show values, large ones abbreviated
  print --all VAR..    Show all of them
  ENTRY ARGUMENT..     Call an entry point and show the result: main 1 [2.5, 3] xs (other ys) {x = 1}
  let NAME = ENTRY ..  The same, and keep it
  plot VAR             Draw a one-dimensional array
  png VAR FILE         Write an array as a picture: [][]u8 and [][]f32 are grey, [][]i32 is 0xRRGGBB,
                       [][][3]u8 and [][][4]u8 are red, green, blue (and alpha)
  load NAME FILE       Send a program with its imports, where the server allows that, and choose it
  help [COMMAND]       This, or what a command does
  quit                 Leave (or the end of the input)
Of the server:)";

constexpr std::string_view kShellCommands[] = {"help", "let",   "load", "plot",
                                               "png",  "print", "quit", "exit"};
constexpr int kHistoryLength = 1000;

struct ShellCommand {
  std::string target;  // a URL or a program
  client::ServerOptions server;
  RemoteOptions remote;
  std::string history;
};

/// The words that Tab completes; editline's callbacks take no argument of ours, hence the pointer
/// to those of the shell that reads a line.
struct Words {
  std::set<std::string> commands, names;
};
const Words* completing = nullptr;

char* next_match(const std::set<std::string>& words, const char* start, int state) {
  static std::set<std::string>::const_iterator at;
  if (state == 0) at = words.lower_bound(start);
  if (at == words.end() || !at->starts_with(start)) return nullptr;
  return ::strdup((at++)->c_str());
}
char* next_command(const char* start, int state) {
  return next_match(completing->commands, start, state);
}
char* next_name(const char* start, int state) {
  return next_match(completing->names, start, state);
}

char** complete(const char* text, int start, int) {
  if (completing == nullptr) return nullptr;
  rl_attempted_completion_over = 1;  // no names of files
  // Those of files are wanted where files are.
  if (start > 0 && std::strchr(text, '/') != nullptr) rl_attempted_completion_over = 0;
  return rl_completion_matches(const_cast<char*>(text), start == 0 ? next_command : next_name);
}

sigjmp_buf prompt;  // where Ctrl-C returns to; its handler takes no argument of ours

void return_to_prompt(int) { siglongjmp(prompt, 1); }

/// readline, which begins anew at Ctrl-C. No object may be alive here or below: a jump destroys
/// none.
char* read_line(const char* text) {
  if (sigsetjmp(prompt, 1) != 0) std::fputc('\n', stdout);
  std::signal(SIGINT, return_to_prompt);
  char* line = readline(text);
  std::signal(SIGINT, SIG_DFL);
  return line;
}

/// Lines from a person with editing and history, or just lines.
class Input {
 public:
  Input(const Words& words, std::string history)
      : words_(words), history_(std::move(history)), terminal_(::isatty(STDIN_FILENO) != 0) {
    if (!terminal_) return;
    std::setlocale(LC_CTYPE, "");  // or letters beyond ASCII would be dropped
    rl_readline_name = "kenaz";
    rl_attempted_completion_function = complete;
    using_history();
    stifle_history(kHistoryLength);
    read_history(history_.c_str());
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  bool terminal() const { return terminal_; }
  bool next(std::string& line) {
    if (!terminal_) return lines_.next(line);
    completing = &words_;
    const std::unique_ptr<char, decltype(&std::free)> text(read_line("kenaz> "), std::free);
    completing = nullptr;
    if (!text) {
      fmt::print("\n");
      return false;
    }
    line = text.get();
    if (line.find_first_not_of(' ') == std::string::npos) return true;
    add_history(line.c_str());
    write_history(history_.c_str());  // now: Ctrl-C during a call ends the shell
    return true;
  }

 private:
  const Words& words_;
  const std::string history_;
  const bool terminal_;
  client::LineInput lines_{STDIN_FILENO};
};

class Shell {
 public:
  Shell(client::Client client, bool remote) : client_(std::move(client)), remote_(remote) {
    learn_program();
  }

  /// The exit code: where nobody looks, a command that failed counts.
  int run(const std::string& history) {
    Input input(words_, history);
    if (input.terminal()) fmt::print("help tells what there is; Tab completes.\n");
    std::string line;
    bool failed = false;
    while (input.next(line) && !quits(line)) {
      if (const auto done = execute(line); !done) {
        fmt::print("error: {}\n", done.error().text());
        failed = true;
      }
      flush_output();
      if (client_.broken()) return kFailed;
    }
    const auto end = client_.finish();
    if (!end) return complain(end.error());
    return failed && !input.terminal() ? kFailed : kOk;
  }

 private:
  /// The names of the program that is chosen now.
  void learn_program() {
    for (const auto& entry : entries_) words_.commands.erase(entry);
    entries_.clear();
    if (const auto names = client_.request({"entry_points"})) {
      entries_.insert(names->begin(), names->end());
    }
    for (const auto& c : protocol::commands()) words_.commands.emplace(c.name);
    words_.commands.insert(std::begin(kShellCommands), std::end(kShellCommands));
    words_.commands.insert(entries_.begin(), entries_.end());
    words_.names.insert(entries_.begin(), entries_.end());
    if (const auto types = client_.request({"types"})) {
      words_.names.insert(types->begin(), types->end());
    }
  }

  Status load(const std::vector<std::string>& words) {
    if (words.size() != 3) return bad_request("load NAME FILE");
    KENAZ_TRY(client_.load(words[1], words[2]));
    KENAZ_TRY(client_.choose_program(words[1]));
    words_.names.insert(words[1]);
    learn_program();
    return {};
  }

  static bool quits(const std::string& line) {
    const auto words = protocol::split_line(line);
    return words.size() == 1 && (words[0] == "quit" || words[0] == "exit");
  }

  Status execute(const std::string& line) {
    const auto words = protocol::split_line(line);
    if (words.empty()) return {};
    const std::string& command = words[0];
    if (command == "let") return let(line);
    if (command == "print") return print({words.begin() + 1, words.end()});
    if (command == "plot") return plot_variable(words);
    if (command == "png") return write_picture(words);
    if (command == "load") return load(words);
    if (command == "upload" || command == "download") {
      return bad_request("bytes are not for people: use let and print, store and restore");
    }
    if (command == "help" && words.size() == 1) fmt::print("{}\n", kShellHelp);
    if (command == "help" && words.size() == 2 &&
        std::find(std::begin(kShellCommands), std::end(kShellCommands), words[1]) !=
            std::end(kShellCommands)) {
      fmt::print("{}\n", kShellHelp);
      return {};
    }
    const bool is_command = protocol::find_command(command) != nullptr;
    if (!is_command && script_.is_expression(line)) return show_call(line);
    return forward(line, words);
  }

  Status show_call(const std::string& line) {
    constexpr const char* kResult = "_result";
    KENAZ_TRY(script_.run(line, "", kResult));
    const auto text = show_variable(client_, kResult, false);
    KENAZ_TRY(client_.free({kResult}));
    KENAZ_TRY(text);
    fmt::print("{}\n", *text);
    return {};
  }

  /// The only array of a command.
  Result<data::Value> array(const std::string& name) {
    KENAZ_ASSIGN(auto values, client_.get_values(name));
    if (values.size() != 1) return bad_request(name + " is no array of numbers");
    return std::move(values[0]);
  }

  Status plot_variable(const std::vector<std::string>& words) {
    constexpr int kWidth = 64, kHeight = 12;
    if (words.size() != 2) return bad_request("plot VAR");
    KENAZ_ASSIGN(const auto value, array(words[1]));
    KENAZ_ASSIGN(const std::string text, plot(value, kWidth, kHeight));
    fmt::print("{}{}\n", text, statistics(value));
    return {};
  }

  Status write_picture(const std::vector<std::string>& words) {
    if (words.size() != 3) return bad_request("png VAR FILE");
    KENAZ_ASSIGN(const auto value, array(words[1]));
    return write_png(words[2], value);
  }

  Status forward(const std::string& line, const std::vector<std::string>& words) {
    client::Connection& server = client_.connection();
    auto reply = [&]() -> Result<protocol::Reply> {
      if (remote_) return client::execute_here(server, line);
      KENAZ_TRY(server.send_line(line));
      return server.receive();
    }();
    KENAZ_TRY(reply);
    for (const auto& l : reply->output) fmt::print("{}\n", l);
    if (reply->failure) return fail(ErrorKind::kProgramFailure, *reply->failure);
    if (words[0] == "program" || words[0] == "unload") learn_program();
    // Names that were good once are worth completing.
    if (words[0] != "help") words_.names.insert(words.begin() + 1, words.end());
    if (words[0] == "free") {
      for (size_t i = 1; i < words.size(); ++i) words_.names.erase(words[i]);
    }
    return {};
  }

  Status let(const std::string& line) {
    const size_t equals = line.find('='), colon = line.substr(0, equals).find(':');
    const bool typed = colon != std::string::npos;
    const auto words = protocol::split_line(line.substr(0, typed ? colon : equals));
    const std::string type =
        typed ? std::string(trimmed(line.substr(colon + 1, equals - colon - 1), " \t")) : "";
    if (equals == std::string::npos || words.size() != 2 || (typed && type.empty())) {
      return bad_request("let NAME = VALUE, for instance: let xs = [1f32, 2, 3]");
    }
    // A name may be used again, as in any shell; also in what it becomes.
    constexpr const char* kNew = "_new";
    const std::string text = line.substr(equals + 1);
    if (typed || script_.is_expression(text)) {
      KENAZ_TRY(script_.run(text, type, kNew));
    } else {
      KENAZ_ASSIGN(const auto values, data::read_values(text));
      if (values.size() != 1) {
        return bad_request(fmt::format("there are {} values after the =, not 1", values.size()));
      }
      KENAZ_TRY(client_.put(kNew, values[0]));
    }
    if (client_.request({"type", words[1]})) KENAZ_TRY(client_.free({words[1]}));
    KENAZ_TRY(client_.request({"rename", kNew, words[1]}));
    words_.names.insert(words[1]);
    return {};
  }

  Status print(std::vector<std::string> names) {
    const bool all = std::erase(names, "--all") > 0;
    if (names.empty()) return bad_request("print VAR..");
    for (const auto& name : names) {
      KENAZ_ASSIGN(const std::string text, show_variable(client_, name, all));
      fmt::print("{}\n", text);
    }
    return {};
  }

  client::Client client_;
  const bool remote_;
  Words words_;
  std::set<std::string> entries_;
  ScriptCall script_{client_, entries_};
};

int shell(const ShellCommand& command) {
  std::signal(SIGPIPE, SIG_IGN);
  client::ServerOptions server = command.server;
  // Ctrl-C at the prompt clears the line; the terminal sends it to the server as well.
  server.ignores_interrupts = ::isatty(STDIN_FILENO) != 0;
  auto client = open_target(command.target, std::move(server), command.remote);
  if (!client) return complain(client.error());
  return Shell(std::move(*client), client::looks_like_url(command.target)).run(command.history);
}

std::string default_history() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? std::string(user->pw_dir) + "/.kenaz_history" : ".kenaz_history";
}

}  // namespace

std::function<int()> declare_shell(CLI::App& app) {
  auto command = std::make_shared<ShellCommand>();
  command->history = default_history();
  app.add_option("target", command->target,
                 "A server's tcp://HOST:PORT, tls://HOST:PORT or unix://PATH, or a program")
      ->required();
  add_server_options(app, command->server);
  add_remote_options(app, command->remote);
  app.add_option("--history", command->history, "Where lines are kept for the next time")
      ->capture_default_str();
  return [command] { return shell(*command); };
}

}  // namespace kenaz::cli

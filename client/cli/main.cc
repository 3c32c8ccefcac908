// kenaz: the client's command line.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/dataset.h"
#include "client/cli/launch.h"
#include "client/cli/subcommands.h"
#include "protocol/base/nearest.h"

namespace {

struct Subcommand {
  const char* name;
  const char* help;
  kenaz::cli::Declare declare;
  int usage_code = kenaz::cli::kUsage;  // exit code for a malformed command line
};

constexpr Subcommand kSubcommands[] = {
    {"run", "Run an entry point of a program on values from standard input",
     kenaz::cli::declare_run},
    {"stream", "Run a sequence of any length, in chunks, through entry points of a program",
     kenaz::cli::declare_stream},
    // As with Futhark's check, 2 says that the program was rejected.
    {"check", "Check a program without running it", kenaz::cli::declare_check, 1},
    {"lsp", "Be a language server for editors", kenaz::cli::declare_lsp},
    {"test", "Run the test blocks of programs", kenaz::cli::declare_test},
    {"image", "Run an image filter on a picture, or on a folder of them",
     kenaz::cli::declare_image},
    {"connect", "Be a server executable on behalf of a server that runs somewhere else",
     kenaz::cli::declare_connect},
    {"shell", "Talk to a server", kenaz::cli::declare_shell},
    {"vulkan", "Check a program and write a launcher for it, as Futhark's compilers would",
     kenaz::cli::declare_vulkan, 1},
    {"c", "The same, for the reference evaluator", kenaz::cli::declare_c, 1},
    {"multicore", "The same as c", kenaz::cli::declare_c, 1},
    {"bench", "Measure programs on the inputs of their test blocks", kenaz::cli::declare_bench},
    {"explain", "Say how a program runs on the device: in which ways, and why so",
     kenaz::cli::declare_explain, 1},
    {"observe", "Say what the kernels of a call do to memory, by line of the program",
     kenaz::cli::declare_observe},
    {"autotune", "Find values for a program's thresholds on the inputs of its test blocks",
     kenaz::cli::declare_autotune},
};

/// Those that read their command lines themselves.
constexpr Subcommand kOwnCommandLines[] = {
    {"dataset", "Random values, or values in another format", nullptr},
    {"datacmp", "Compare two files of values, with a tolerance for floats", nullptr},
};

std::vector<std::string> subcommand_names() {
  std::vector<std::string> names;
  for (const auto& row : kSubcommands) names.emplace_back(row.name);
  for (const auto& row : kOwnCommandLines) names.emplace_back(row.name);
  return names;
}

int unknown_subcommand(const std::string& name) {
  const auto names = subcommand_names();
  const std::string near = kenaz::nearest(name, names);
  std::fprintf(stderr, "kenaz: there is no subcommand %s%s\nRun kenaz --help for the list.\n",
               name.c_str(), near.empty() ? "" : ("; did you mean " + near + "?").c_str());
  return kenaz::cli::kUsage;
}

int run_subcommand(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "launch") return kenaz::cli::launch(argc - 2, argv + 2);
  if (first == "dataset") return kenaz::cli::dataset(argc - 1, argv + 1);
  if (first == "datacmp") return kenaz::cli::datacmp(argc - 1, argv + 1);
  const auto names = subcommand_names();
  if (!first.empty() && first[0] != '-' &&
      std::find(names.begin(), names.end(), first) == names.end()) {
    return unknown_subcommand(std::string(first));
  }
  CLI::App app("Runs, checks and tests Futhark programs on GPUs, through kenaz-server.", "kenaz");
  app.set_version_flag("-V,--version", "kenaz " KENAZ_VERSION);
  app.require_subcommand(1);
  std::function<int()> chosen;
  for (const auto& row : kSubcommands) {
    CLI::App* sub = app.add_subcommand(row.name, row.help);
    sub->final_callback([&chosen, run = row.declare(*sub)] { chosen = run; });
  }
  for (const auto& row : kOwnCommandLines) app.add_subcommand(row.name, row.help);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return kenaz::cli::kOk;
    for (const auto& row : kSubcommands) {
      if (app.got_subcommand(row.name)) return row.usage_code;
    }
    return kenaz::cli::kUsage;
  }
  return chosen();
}

/// The number of a standard stream that is closed would go to a server's socket, to which results
/// would then be written. What is opened in its place cannot be read, or written, either.
void reserve_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one.
    [[maybe_unused]] const int got = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// If the reader of standard output has left (`kenaz run .. | head`), ends as any program does that
/// SIGPIPE kills; but now, when all temporary files are gone.
void end_like_a_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  reserve_standard_streams();
  try {
    const int code = run_subcommand(argc, argv);
    const auto flushed = kenaz::cli::flush_output();
    if (kenaz::cli::output_is_closed()) end_like_a_broken_pipe();
    return code == kenaz::cli::kOk && !flushed ? kenaz::cli::complain(flushed.error()) : code;
  } catch (const std::exception& e) {  // no memory, or a full disk below fmt::print
    std::fprintf(stderr, "kenaz: %s\n", e.what());
    return kenaz::cli::kFailed;
  }
}

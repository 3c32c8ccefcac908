#include "client/cli/launch.h"

#include <errno.h>
#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "client/cli/run.h"
#include "client/cli/subcommands.h"
#include "protocol/base/whole_number.h"

namespace kenaz::cli {
namespace {

enum class Action {
  kPass,     // to the server, as it is
  kIgnore,   // a hint for other back ends
  kHelp,     //
  kRuntime,  // from here on: of executables that are no servers
  kRuns,
  kEntry,
  kBinary,
  kNoPrint,
};

struct Row {
  char letter;  // 0: none
  const char* name;
  const char* argument;  // null: none
  Action action;
  const char* help;
};

constexpr Row kOptions[] = {
    {'h', "help", nullptr, Action::kHelp, "Print this and exit."},
    {'D', "debugging", nullptr, Action::kPass, "Log what is done."},
    {'L', "log", nullptr, Action::kPass, "Log what is done."},
    {'P', "profile", nullptr, Action::kPass, "Record profiling events."},
    {'d', "device", "NAME", Action::kPass, "Use the device with NAME in its name; #k: the k-th."},
    {0, "print-params", nullptr, Action::kPass, "Print the tuning parameters and exit."},
    {0, "param", "NAME=INT", Action::kPass, "Set a tuning parameter."},
    {0, "tuning", "FILE", Action::kPass, "Read tuning parameters from FILE."},
    {0, "cache-file", "FILE", Action::kPass, "Keep compiled code in FILE."},
    {0, "program-cache", "FOLDER", Action::kPass, "Keep compiled programs in FOLDER."},
    {0, "memory-limit", "BYTES", Action::kPass, "Use no more memory of the device."},
    {0, "reference", nullptr, Action::kPass, "Evaluate on the CPU, sequentially."},
    {0, "validate", nullptr, Action::kPass, "Use the Vulkan validation layer."},
    {0, "default-thread-block-size", "INT", Action::kIgnore, "No difference."},
    {0, "default-grid-size", "INT", Action::kIgnore, "No difference."},
    {0, "default-group-size", "INT", Action::kIgnore, "No difference."},
    {0, "default-num-groups", "INT", Action::kIgnore, "No difference."},
    {0, "default-tile-size", "INT", Action::kIgnore, "No difference."},
    {0, "default-reg-tile-size", "INT", Action::kIgnore, "No difference."},
    {0, "default-registers", "INT", Action::kIgnore, "No difference."},
    {0, "default-cache", "INT", Action::kIgnore, "No difference."},
    {0, "default-threshold", "INT", Action::kIgnore, "No difference."},
    {0, "unified-memory", "INT", Action::kIgnore, "No difference."},
    {0, "num-threads", "INT", Action::kIgnore, "No difference."},
    {'t', "write-runtime-to", "FILE", Action::kRuntime, "Write run times, in microseconds."},
    {'r', "runs", "INT", Action::kRuns, "Run so often, after one run that does not count."},
    {'e', "entry-point", "NAME", Action::kEntry, "The entry point, main if none is given."},
    {'b', "binary-output", nullptr, Action::kBinary, "Print results in the binary format."},
    {'n', "no-print-result", nullptr, Action::kNoPrint, "Print no results."},
};

bool of_servers(const Row& row) { return row.action < Action::kRuntime; }

void print_usage(std::FILE* to, const char* name, bool server) {
  fmt::print(to, "Usage: {} [OPTION]...\nOptions:\n\n", name);
  for (const auto& row : kOptions) {
    if (server && !of_servers(row)) continue;
    const std::string letter = row.letter != 0 ? fmt::format("-{}, ", row.letter) : "    ";
    const std::string argument = row.argument != nullptr ? fmt::format("={}", row.argument) : "";
    fmt::print(to, "  {}{}\n        {}\n", letter, fmt::format("--{}{}", row.name, argument),
               row.help);
  }
}

struct Launch {
  bool server = false;
  RunOptions run;  // run.server.arguments is what the server gets
  bool done = false;
};

/// False if the argument is not a good one.
bool apply(const Row& row, const char* argument, Launch& launch) {
  auto& pass = launch.run.server.arguments;
  const std::string_view text = argument != nullptr ? argument : "";
  switch (row.action) {
    case Action::kPass:
      pass.push_back(fmt::format("--{}", row.name));
      if (row.argument != nullptr) pass.back() += fmt::format("={}", text);
      return true;
    case Action::kIgnore: return true;
    case Action::kHelp: return launch.done = true;
    case Action::kRuntime: launch.run.runtimes = text; return true;
    case Action::kRuns: {
      const auto runs = whole_number<decltype(launch.run.runs)>(text);
      launch.run.warm_up = true;
      launch.run.runs = runs.value_or(0);
      return launch.run.runs > 0;
    }
    case Action::kEntry: launch.run.entry = text; return true;
    case Action::kBinary: return launch.run.binary = true;
    case Action::kNoPrint: return launch.run.no_print = true;
  }
  return false;
}

/// As getopt_long reads it, so that long options may be abbreviated. argv[0] is the name.
bool parse(int argc, char** argv, Launch& launch) {
  std::string letters;
  std::vector<option> longs;
  constexpr int kFirst = 256;  // codes of long options, beyond all letters
  for (const auto& row : kOptions) {
    if (launch.server && !of_servers(row)) continue;
    const int has = row.argument != nullptr ? required_argument : no_argument;
    longs.push_back({row.name, has, nullptr, kFirst + static_cast<int>(&row - kOptions)});
    if (row.letter == 0) continue;
    letters += row.letter;
    if (row.argument != nullptr) letters += ':';
  }
  longs.push_back({nullptr, 0, nullptr, 0});
  optind = 1;
  for (int code; (code = getopt_long(argc, argv, letters.c_str(), longs.data(), nullptr)) != -1;) {
    const Row* chosen = nullptr;
    for (const auto& row : kOptions) {
      if (code == kFirst + (&row - kOptions) || (row.letter != 0 && code == row.letter)) {
        chosen = &row;
      }
    }
    if (chosen == nullptr) return false;  // getopt_long has said why
    if (!apply(*chosen, optarg, launch)) {
      fmt::print(stderr, "{}: {} is no good argument of --{}\n", argv[0], optarg, chosen->name);
      return false;
    }
    if (launch.done) return true;
  }
  if (optind == argc) return true;
  fmt::print(stderr, "{}: there are no arguments besides options, but here is {}\n", argv[0],
             argv[optind]);
  return false;
}

int become_server(const Launch& launch) {
  const auto words = client::server_command(launch.run.server);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fmt::print(stderr, "{}: cannot start {}: {}\n", launch.run.complainer, words[0],
             std::strerror(errno));
  return kFailed;
}

}  // namespace

int launch(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "kenaz launch is for the scripts that kenaz vulkan writes\n");
    return kFailed;
  }
  const std::string_view kind = argv[0];
  Launch launch;
  launch.server = kind.starts_with("server");
  launch.run.server.reference = kind.ends_with("-reference");
  launch.run.server.server = argv[1];
  launch.run.server.program = argv[2];
  launch.run.complainer = argv[3];
  if (!parse(argc - 3, argv + 3, launch)) {
    print_usage(stderr, argv[3], launch.server);
    return kFailed;
  }
  if (launch.done) {
    print_usage(stdout, argv[3], launch.server);
    return kOk;
  }
  if (const std::string& program = launch.run.server.program;
      ::access(program.c_str(), R_OK) != 0) {
    fmt::print(
        stderr,
        "{}: {}: {}\nThis launcher only names the program that it was made from. Put the file "
        "back, or make a new launcher with kenaz vulkan.\n",
        argv[3], program, std::strerror(errno));
    return kFailed;
  }
  const auto& arguments = launch.run.server.arguments;
  const bool only_prints =
      std::find(arguments.begin(), arguments.end(), "--print-params") != arguments.end();
  return launch.server || only_prints ? become_server(launch) : run_program(launch.run);
}

}  // namespace kenaz::cli

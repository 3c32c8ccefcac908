// kenaz autotune: a tuning file out of a program's test blocks.
#include <fmt/format.h>

#include <memory>

#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "client/testing/autotune.h"

namespace kenaz::cli {
namespace {

struct AutotuneCommand {
  testing::AutotuneOptions options;
  std::string path, output;  // an empty output: beside the program
};

void print_param(const testing::TunedParam& p) {
  if (p.datasets == 0) {
    print_text(fmt::format("  {}: compared in no run\n", p.name));
  } else if (p.value == p.fallback) {
    print_text(fmt::format("  {}: {}, as it is\n", p.name, p.value));
  } else {
    print_text(fmt::format("  {}: {} instead of {}, {:.2f} times as fast\n", p.name, p.value,
                           p.fallback, p.speedup));
  }
}

int autotune(const AutotuneCommand& command) {
  print_text(command.path + "\n");
  const auto tuned = testing::autotune_program(command.path, command.options, print_param);
  if (!tuned) return complain(tuned.error());
  if (tuned->empty()) {
    print_text("  There is nothing to tune in what the test blocks run.\n");
    return kOk;
  }
  const std::string to = command.output.empty() ? command.path + ".tuning" : command.output;
  if (const auto written = client::write_file(to, testing::tuning_text(*tuned)); !written) {
    return complain(written.error(), kUsage);
  }
  return kOk;
}

}  // namespace

std::function<int()> declare_autotune(CLI::App& app) {
  auto command = std::make_shared<AutotuneCommand>();
  add_server_options(app, command->options.server);
  app.add_option("program", command->path, "The program")->required()->option_text("PROG.fut");
  app.add_option("-e,--entry-point", command->options.entry, "Only this entry point");
  app.add_option("-r,--runs", command->options.runs, "Runs per dataset and way, at least")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("-o,--output", command->output, "Write here instead of PROG.fut.tuning")
      ->type_name("FILE");
  app.add_option("--call-timeout", command->options.call_timeout,
                 "Seconds that a call may take; a way that takes longer is not taken")
      ->capture_default_str()
      ->check(seconds());
  app.add_option("--timeout", command->options.timeout, "Seconds that all of it may take")
      ->capture_default_str()
      ->check(seconds());
  return [command] {
    client::remove_temp_dirs_when_killed();
    return autotune(*command);
  };
}

}  // namespace kenaz::cli

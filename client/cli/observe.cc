// kenaz observe: what the kernels of a call do to memory, by line of the program.
#include <memory>

#include "client/cli/run.h"
#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/lib/values.h"

namespace kenaz::cli {
namespace {

struct ObserveCommand {
  RunOptions run;
  bool json = false;
  int64_t groups = 0;  // of each launch; 0: all
  std::string html;    // a file for the page; empty: the report goes to standard output
};

int observe(const ObserveCommand& command) {
  const auto scratch = client::TempDir::make();
  if (!scratch) return complain(scratch.error());
  const std::string report = scratch->file("report");
  RunOptions run = command.run;
  run.no_print = true;
  run.server.device = "interpreter";
  run.server.arguments.push_back("--observe=" + report);
  if (command.json) run.server.arguments.push_back("--json");
  if (!command.html.empty()) run.server.arguments.push_back("--html");
  if (command.groups > 0) {
    run.server.arguments.push_back("--groups=" + std::to_string(command.groups));
  }
  run.end_server = command.groups > 0;
  const int done = run_program(run);
  // What is not computed may well be needed: what has run is worth a report nevertheless.
  if (done != kOk && command.groups == 0) return done;
  const auto text = client::read_file(report);
  if (!text) return done != kOk ? done : complain(text.error());
  const Status printed =
      command.html.empty() ? print_text(*text) : client::write_file(command.html, *text);
  return printed ? done : complain(printed.error());
}

}  // namespace

std::function<int()> declare_observe(CLI::App& app) {
  auto command = std::make_shared<ObserveCommand>();
  app.add_option("program", command->run.server.program, "The program's file")->required();
  app.add_option("-e,--entry-point", command->run.entry,
                 "The entry point (default: the only one, or main); its arguments come from "
                 "standard input");
  command->run.server.server = client::default_server();
  app.add_option("--server", command->run.server.server, "The server's executable")
      ->capture_default_str();
  app.add_option("--pass-option", command->run.server.arguments, "An option for the server")
      ->type_name("OPT")
      ->allow_extra_args(false);
  app.add_option("--groups", command->groups,
                 "Run only so many workgroups of each launch: the first, the last and others by "
                 "chance; what the rest would compute is undefined")
      ->check(CLI::PositiveNumber);
  CLI::Option* json = app.add_flag("--json", command->json, "As JSON, for tools");
  app.add_option("--html", command->html, "As a page for browsers, to this file")
      ->type_name("FILE")
      ->excludes(json);
  return [command] { return observe(*command); };
}

}  // namespace kenaz::cli

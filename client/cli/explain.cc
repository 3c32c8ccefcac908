// kenaz explain: how a program runs on the device, by the server that would run it.
#include <memory>

#include "client/cli/subcommands.h"
#include "client/lib/process.h"

namespace kenaz::cli {
namespace {

constexpr double kCompileTimeout = 600;  // seconds

struct ExplainCommand {
  std::string server = client::default_server(), device, program;
  bool json = false;
};

/// Prints what the server prints; its exit code.
Result<int> run(const client::ProcessOptions& child) {
  const auto deadline = client::deadline_in(kCompileTimeout);
  KENAZ_ASSIGN(const auto process, client::Process::spawn(child));
  process->close_input();
  for (;;) {
    KENAZ_ASSIGN(const auto line, process->read_line(deadline));
    if (!line) break;
    KENAZ_TRY(print_text(*line + "\n"));
  }
  const auto status = process->wait(deadline);
  if (!status) return internal_error("the server does not end in time");
  if (status->signal != 0) return internal_error("the server " + status->text());
  return status->code;
}

int explain(const ExplainCommand& command) {
  client::ProcessOptions child;
  child.argv = {command.server, "--explain"};
  if (command.json) child.argv.push_back("--json");
  if (!command.device.empty()) child.argv.insert(child.argv.end(), {"--device", command.device});
  child.argv.push_back(command.program);
  const auto code = run(child);
  return code ? *code : complain(code.error());
}

}  // namespace

std::function<int()> declare_explain(CLI::App& app) {
  auto command = std::make_shared<ExplainCommand>();
  app.add_option("program", command->program, "The program")->required()->option_text("PROG.fut");
  app.add_option("--server", command->server, "The server's executable")->capture_default_str();
  app.add_option("-d,--device", command->device, "The device: part of its name, or #k");
  app.add_flag("--json", command->json, "As JSON, for tools");
  return [command] { return explain(*command); };
}

}  // namespace kenaz::cli

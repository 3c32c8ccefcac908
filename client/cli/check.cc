// kenaz check: exit code 0 if the programs are fine, 2 if one is rejected, 1 if one could not be
// checked.
#include "client/cli/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "client/cli/check_json.h"
#include "client/cli/subcommands.h"
#include "client/cli/watch.h"
#include "client/lib/process.h"
#include "client/testing/suite.h"

namespace kenaz::cli {
namespace {

constexpr double kTimeout = 600;  // seconds per program

struct CheckCommand {
  CheckOptions check;
  std::vector<std::string> paths;
  bool json = false, watch = false;
};

/// One document for all programs.
int check_as_json(const CheckOptions& options, const std::vector<std::string>& programs) {
  nlohmann::json all = empty_document();
  bool unchecked = false;
  for (const auto& program : programs) {
    const auto document = check_document(options, program);
    if (document) {
      add_document(all, *document);
    } else {
      complain({ErrorKind::kInternal, program + ": " + document.error().text(), {}});
      unchecked = true;
    }
  }
  const auto printed = print_text(text_of(all) + "\n");
  if (!printed) return complain(printed.error());
  return unchecked ? kFailed : rejected_programs(all) > 0 ? kRejected : kOk;
}

/// Why there are no programs to check.
int complain_of_paths(const CheckCommand& command, const Error& error) {
  if (command.json) {
    nlohmann::json document = empty_document();
    add_problem(document, error.text());
    print_text(text_of(document) + "\n");
  }
  return complain(error);
}

int check(const CheckCommand& command) {
  if (command.watch) return watch_programs(command.check, command.paths, command.json);
  const auto programs = testing::collect_programs(command.paths);
  if (!programs) return complain_of_paths(command, programs.error());
  if (programs->empty()) {
    return complain_of_paths(
        command, {ErrorKind::kBadRequest, "there are no .fut files in these folders", {}});
  }
  if (command.json) return check_as_json(command.check, *programs);
  size_t rejected = 0;
  bool unchecked = false;
  for (const auto& program : *programs) {
    const auto code = check_program(command.check, program);
    if (!code) complain({ErrorKind::kInternal, program + ": " + code.error().text(), {}});
    if (code && *code == kRejected) ++rejected;
    unchecked = unchecked || !code || (*code != kOk && *code != kRejected);
  }
  if (rejected > 0 && programs->size() > 1) {
    fmt::print(stderr, "kenaz: {} of {} programs are rejected\n", rejected, programs->size());
  }
  return unchecked ? kFailed : rejected > 0 ? kRejected : kOk;
}

}  // namespace

std::vector<std::string> check_command(const CheckOptions& options, const std::string& program) {
  std::vector<std::string> words = {options.server, "--check"};
  if (options.reference) words.push_back("--reference");
  if (options.types_only) words.push_back("--types-only");
  if (options.no_warnings) words.push_back("--no-warnings");
  if (options.warnings_are_errors) words.push_back("--Werror");
  words.push_back(program);
  return words;
}

Result<int> check_program(const CheckOptions& options, const std::string& program) {
  client::ProcessOptions child;
  child.argv = check_command(options, program);
  KENAZ_ASSIGN(const auto status, client::run_to_end(child, client::deadline_in(kTimeout)));
  if (status.signal != 0) return internal_error("the check " + status.text());
  return status.code;
}

void add_check_options(CLI::App& app, CheckOptions& options) {
  app.add_option("--server-executable", options.server, "The server's executable")
      ->capture_default_str();
  app.add_flag("-w,-W", options.no_warnings, "Print no warnings");
  app.add_flag("--Werror", options.warnings_are_errors, "Reject a program that has warnings");
}

std::function<int()> declare_check(CLI::App& app) {
  auto command = std::make_shared<CheckCommand>();
  app.add_option("paths", command->paths, "Programs, and folders of programs")->required();
  add_check_options(app, command->check);
  app.add_flag("--types-only", command->check.types_only,
               "Accept what has no type error, though it may be impossible to compile");
  app.add_flag("--reference", command->check.reference,
               "Accept what the reference evaluator runs, though a device may not");
  app.add_flag("--json", command->json,
               "Print diagnostics as JSON, one document, to standard output");
  app.add_flag("--watch", command->watch, "Check again when a file or an import of it changes");
  // As the other subcommands call it; that of the compilers means something else.
  app.add_option("--server", command->check.server)->group("");
  return [command] { return check(*command); };
}

}  // namespace kenaz::cli

// kenaz check: exit code 0 if the program is fine, 2 if it is rejected, 1 if it could not be
// checked.
#include "client/cli/check.h"

#include <fmt/format.h>

#include <memory>

#include "client/cli/subcommands.h"
#include "client/lib/process.h"
#include "client/lib/temp_dir.h"

namespace kenaz::cli {
namespace {

constexpr double kTimeout = 600;

}  // namespace

Result<int> check_program(const CheckOptions& options) {
  KENAZ_ASSIGN(const auto scratch, client::TempDir::make());
  client::ProcessOptions child;
  child.argv = {options.server, "--check", options.program};
  child.stderr_path = scratch.file("diagnostics");
  KENAZ_ASSIGN(const auto status, client::run_to_end(child, client::deadline_in(kTimeout)));
  KENAZ_ASSIGN(const std::string diagnostics, client::read_file(child.stderr_path));
  const bool warned = status.success() && diagnostics.find("Warning") != std::string::npos;
  if (!status.success() || !options.no_warnings) fmt::print(stderr, "{}", diagnostics);
  if (status.signal != 0) return internal_error("the check " + status.text());
  if (warned && options.warnings_are_errors) {
    fmt::print(stderr, "kenaz: warnings are treated as errors\n");
    return kRejected;
  }
  return status.code;
}

void add_check_options(CLI::App& app, CheckOptions& options) {
  app.add_option("program", options.program, "The program's file")->required();
  app.add_option("--server-executable", options.server, "The server's executable")
      ->capture_default_str();
  app.add_flag("-w,-W", options.no_warnings, "Print no warnings");
  app.add_flag("--Werror", options.warnings_are_errors, "Reject a program that has warnings");
}

std::function<int()> declare_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_check_options(app, *options);
  // As the other subcommands call it; that of the compilers means something else.
  app.add_option("--server", options->server)->group("");
  return [options] {
    const auto code = check_program(*options);
    return code ? *code : complain(code.error());
  };
}

}  // namespace kenaz::cli

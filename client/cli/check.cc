// kenaz check: exit code 0 if the program is fine, 2 if it is rejected, 1 if it could not be
// checked.
#include <memory>

#include "client/cli/subcommands.h"
#include "client/lib/process.h"

namespace kenaz::cli {
namespace {

constexpr double kTimeout = 600;

struct CheckOptions {
  std::string server = client::default_server();
  std::string program;
};

int check(const CheckOptions& options) {
  client::ProcessOptions child;
  child.argv = {options.server, "--check", options.program};
  const auto status = client::run_to_end(child, client::deadline_in(kTimeout));
  if (!status) return complain(status.error(), 1);
  if (status->signal != 0)
    return complain(Error{ErrorKind::kInternal, "the check " + status->text(), {}}, 1);
  return status->code;
}

}  // namespace

std::function<int()> declare_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("program", options->program, "The program's file")->required();
  app.add_option("--server", options->server, "The server's executable")->capture_default_str();
  return [options] { return check(*options); };
}

}  // namespace kenaz::cli

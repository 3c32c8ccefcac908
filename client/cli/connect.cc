// kenaz connect: a server somewhere else as a server executable, for tools that start one.
#include <unistd.h>
#include <csignal>
#include <memory>

#include "client/cli/subcommands.h"
#include "client/lib/bridge.h"
#include "client/lib/url.h"

namespace kenaz::cli {
namespace {

struct ConnectCommand {
  RemoteOptions remote;
  bool ignore_arguments = false;
};

/// The URL among the words that are no options of ours.
Result<std::string> find_url(const std::vector<std::string>& words, bool ignore_arguments) {
  for (const auto& word : words) {
    if (client::looks_like_url(word)) return word;
    if (!ignore_arguments) return bad_request(word + " stands where the server's URL should be");
  }
  return bad_request("the server's URL is missing: kenaz connect URL");
}

int connect(const ConnectCommand& command) {
  std::signal(SIGPIPE, SIG_IGN);
  auto server = open_remote(command.remote);
  if (!server) return complain(server.error());
  (*server)->set_deadline(client::Deadline::max());
  const auto status = client::run_bridge(**server, STDIN_FILENO, STDOUT_FILENO);
  if (!status) return complain(status.error());
  const auto end = (*server)->finish();
  return end ? kOk : complain(end.error());
}

/// The URL is no positional of CLI11's: it is looked for among the words that are left over.
class HelpWithUrl : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] URL [ARGUMENT]...\n";
  }
};

}  // namespace

std::function<int()> declare_connect(CLI::App& app) {
  auto command = std::make_shared<ConnectCommand>();
  add_remote_options(app, command->remote);
  app.add_flag("--ignore-arguments", command->ignore_arguments,
               "Let arguments of another program also stand before the URL");
  app.formatter(std::make_shared<HelpWithUrl>());
  app.footer(
      "URL is tcp://HOST:PORT, tls://HOST:PORT or unix://PATH. What follows it and is no option of "
      "this command is ignored: it is what a tool tells the server executable that it believes to "
      "start.");
  app.allow_extras();
  return [command, &app] {
    if (auto url = find_url(app.remaining(), command->ignore_arguments)) {
      command->remote.url = std::move(*url);
      return connect(*command);
    } else {
      return complain(url.error(), kUsage);
    }
  };
}

}  // namespace kenaz::cli

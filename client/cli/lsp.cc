// kenaz lsp: becomes kenaz-server --lsp.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "client/cli/subcommands.h"

namespace kenaz::cli {

std::function<int()> declare_lsp(CLI::App& app) {
  auto server = std::make_shared<std::string>(client::default_server());
  app.add_option("--server-executable", *server, "The server's executable")->capture_default_str();
  app.add_flag_callback(
      "--stdio", [] {}, "Speak on standard input and output; so it does anyway");
  return [server] {
    std::string option = "--lsp";
    char* const words[] = {server->data(), option.data(), nullptr};
    std::signal(SIGPIPE, SIG_DFL);
    ::execvp(words[0], words);
    return complain({ErrorKind::kInternal, *server + ": " + std::strerror(errno), {}});
  };
}

}  // namespace kenaz::cli

#include <fmt/format.h>

#include <cstdio>

#include "client/cli/subcommands.h"

namespace kenaz::cli {

void add_server_options(CLI::App& app, client::ServerOptions& options) {
  options.server = client::default_server();
  app.add_option("--server", options.server, "The server's executable")->capture_default_str();
  app.add_option("-d,--device", options.device, "The device: part of its name, or #k");
  app.add_flag("--reference", options.reference, "Run on the reference evaluator, on the CPU");
  app.add_option_function<double>(
         "--memory-limit",
         [&options](const double& gib) {
           options.memory_limit = static_cast<int64_t>(gib * (int64_t{1} << 30));
         },
         "Address space that a server may use")
      ->type_name("GIB");
  app.add_option("--pass-option", options.arguments, "An option for the server")
      ->type_name("OPT")
      ->allow_extra_args(false);
}

int complain(const Error& error, int code) {
  fmt::print(stderr, "kenaz: {}\n", error.text());
  return code;
}

}  // namespace kenaz::cli

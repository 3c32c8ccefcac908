#include <fmt/format.h>

#include <cstdio>

#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"

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

void add_remote_options(CLI::App& app, RemoteOptions& options) {
  app.add_option("--token-file", options.token_file, "A file with the token that the server wants");
  app.add_option("--ca-file", options.connect.ca_file,
                 "Certificates of authorities for tls:// (default: the system's)");
  app.add_option("--session", options.connect.session_name,
                 "Join this session, whose variables outlive the connection");
  app.add_option("--connect-timeout", options.timeout, "Seconds to wait for the server's greeting")
      ->capture_default_str();
}

Result<std::unique_ptr<client::Connection>> open_remote(const RemoteOptions& options) {
  client::ConnectOptions connect = options.connect;
  if (!options.token_file.empty()) {
    KENAZ_ASSIGN(connect.token, client::read_file(options.token_file));
    connect.token = connect.token.substr(0, connect.token.find_first_of("\r\n"));
    if (connect.token.empty()) return bad_request(options.token_file + " has no token");
  }
  return client::Connection::connect(options.url, connect, client::deadline_in(options.timeout));
}

int complain(const Error& error, int code) {
  fmt::print(stderr, "kenaz: {}\n", error.text());
  return code;
}

}  // namespace kenaz::cli

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "client/cli/subcommands.h"
#include "client/lib/temp_dir.h"
#include "client/lib/url.h"
#include "protocol/base/diagnostic_text.h"
#include "protocol/base/nearest.h"
#include "protocol/data/binary_format.h"

namespace kenaz::cli {
namespace {

/// Why standard output could not be written, of several reasons the first (stdio keeps that there
/// was one, but not which); 0 so far: it could.
int output_errno = 0;

tl::unexpected<Error> output_error(int why) {
  if (output_errno == 0) output_errno = why;
  return internal_error(std::string("cannot write the standard output: ") +
                        std::strerror(output_errno));
}

}  // namespace

void add_server_options(CLI::App& app, client::ServerOptions& options) {
  options.server = client::default_server();
  app.add_option("--server", options.server, "The server's executable")->capture_default_str();
  app.add_option("-d,--device", options.device, "The device: part of its name, or #k");
  auto* reference =
      app.add_flag("--reference", options.reference, "Run on the reference evaluator, on the CPU");
  app.add_option(
         "--stage", options.stage,
         "With --reference: the stage of the compiler to evaluate: lowered, soacs, seg, mem or kir")
      ->needs(reference);
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

CLI::Validator seconds(bool negative) {
  const auto check = [negative](const std::string& text) -> std::string {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value) && !std::isnan(value);
    return number && (negative || value >= 0) ? "" : text + " is no number of seconds";
  };
  return CLI::Validator(check, "");
}

void add_remote_options(CLI::App& app, RemoteOptions& options) {
  app.add_option("--token-file", options.token_file, "A file with the token that the server wants");
  app.add_option("--ca-file", options.connect.ca_file,
                 "Certificates of authorities for tls:// (default: the system's)");
  app.add_option("--session", options.connect.session_name,
                 "Join this session, whose variables outlive the connection");
  app.add_option("--connect-timeout", options.timeout, "Seconds to wait for the server's greeting")
      ->capture_default_str()
      ->check(seconds());
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

Result<client::Client> open_target(const std::string& target, client::ServerOptions server,
                                   RemoteOptions remote) {
  if (client::looks_like_url(target)) {
    remote.url = target;
    KENAZ_ASSIGN(auto connection, open_remote(remote));
    connection->set_deadline(client::Deadline::max());
    return client::Client(std::move(connection));
  }
  server.program = target;
  return client::Client::start(server, client::Deadline::max());
}

Result<std::string> choose_entry(const std::vector<std::string>& entries,
                                 const std::string& wanted) {
  if (entries.empty()) return bad_request("The program has no entry points.");
  const std::string entry = !wanted.empty() ? wanted : entries.size() == 1 ? entries[0] : "main";
  if (std::find(entries.begin(), entries.end(), entry) != entries.end()) return entry;
  const std::string near = nearest(entry, entries);
  return bad_request(fmt::format("No entry point '{}'.{} Select one with --entry-point:\n{}", entry,
                                 near.empty() ? "" : fmt::format(" Did you mean '{}'?", near),
                                 fmt::join(entries, "\n")));
}

bool colours_on(int descriptor) {
  return wants_colour(descriptor, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

int complain(const Error& error, int code, const std::string& complainer) {
  if (output_is_closed()) return code;
  std::string text = error.text();
  if (error.kind != ErrorKind::kCompile) {
    text = complainer + ": " + text;
  } else if (text.empty()) {
    return code;
  } else if (colours_on(STDERR_FILENO)) {
    text = colour_diagnostics(text);
  }
  // No exception where even this cannot be written.
  std::fprintf(stderr, "%s\n", text.c_str());
  return code;
}

Status print_text(std::string_view text) {
  if (text.empty()) return {};  // of no elements there may be no address
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
  return output_error(errno);
}

Status print_binary(const data::Value& value) {
  const auto written = data::write_binary(stdout, value);
  if (!written) return output_error(errno);
  return {};
}

Status flush_output() {
  if (std::fflush(stdout) != 0) return output_error(errno);
  if (std::ferror(stdout) != 0) return output_error(EIO);
  return {};
}

bool output_is_closed() { return output_errno == EPIPE; }

}  // namespace kenaz::cli

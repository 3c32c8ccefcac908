// The subcommands of `kenaz`: a row in the table of main.cc and a function here each.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lib/client.h"
#include "client/lib/connection.h"
#include "protocol/data/value.h"

namespace kenaz::cli {

/// Exit codes of every subcommand.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2;

/// Declares a subcommand's options; what it returns runs the subcommand, giving the exit code.
using Declare = std::function<int()> (*)(CLI::App& app);

std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_check(CLI::App& app);
std::function<int()> declare_lsp(CLI::App& app);
std::function<int()> declare_test(CLI::App& app);
std::function<int()> declare_bench(CLI::App& app);
std::function<int()> declare_autotune(CLI::App& app);
std::function<int()> declare_explain(CLI::App& app);
std::function<int()> declare_observe(CLI::App& app);
std::function<int()> declare_connect(CLI::App& app);
std::function<int()> declare_shell(CLI::App& app);
std::function<int()> declare_stream(CLI::App& app);
std::function<int()> declare_image(CLI::App& app);
std::function<int()> declare_vulkan(CLI::App& app);
std::function<int()> declare_c(CLI::App& app);

/// --server, --device, --reference, --stage, --memory-limit.
void add_server_options(CLI::App& app, client::ServerOptions& options);

/// Of an option's seconds: refuses nan, and unless `negative` what is negative.
CLI::Validator seconds(bool negative = false);

/// A server that runs already.
struct RemoteOptions {
  std::string url;
  std::string token_file;  // empty: no token
  client::ConnectOptions connect;
  double timeout = 60;  // seconds until the server has greeted
};
/// --token-file, --ca-file, --session, --connect-timeout.
void add_remote_options(CLI::App& app, RemoteOptions& options);
Result<std::unique_ptr<client::Connection>> open_remote(const RemoteOptions& options);
/// Joins the server at `target` if that is a URL, and starts one on it if it is a program.
Result<client::Client> open_target(const std::string& target, client::ServerOptions server,
                                   RemoteOptions remote);
/// Returns the entry point that is asked for; where `wanted` is empty, the only one, or main. Fails
/// with the list if there is none such.
Result<std::string> choose_entry(const std::vector<std::string>& entries,
                                 const std::string& wanted);
/// Is standard output, or standard error, a terminal that shows colours?
bool colours_on(int descriptor);
/// Prints "kenaz: message" to standard error and gives `code`. Of a program that was rejected: what
/// the server says of it, or nothing if the server has printed that itself.
int complain(const Error& error, int code = kFailed, const std::string& complainer = "kenaz");

/// To standard output, whose failure (a full disk, say) fmt::print would throw. It need not be
/// looked at everywhere: main ends with flush_output, which fails after any of these has.
Status print_text(std::string_view text);
Status print_binary(const data::Value& value);
Status flush_output();
/// Has a write to standard output failed because nobody reads it any more? Then there is no use in
/// complaining of it.
bool output_is_closed();

}  // namespace kenaz::cli

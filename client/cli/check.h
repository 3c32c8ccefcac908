// Checking programs without running them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "client/lib/connection.h"

namespace kenaz::cli {

/// What Futhark's tools understand as: the program is wrong.
inline constexpr int kRejected = 2;

struct CheckOptions {
  std::string server = client::default_server();
  bool reference = false;   // it need only run on the reference evaluator
  bool types_only = false;  // it need not be possible to compile it
  bool no_warnings = false, warnings_are_errors = false;
};

/// --server-executable, -w, --Werror.
void add_check_options(CLI::App& app, CheckOptions& options);
/// The command line of the server that checks a program; the program is the last word.
std::vector<std::string> check_command(const CheckOptions& options, const std::string& program);
/// The server prints diagnostics to standard error. Gives 0 or kRejected, or the server's other
/// exit codes.
Result<int> check_program(const CheckOptions& options, const std::string& program);

}  // namespace kenaz::cli

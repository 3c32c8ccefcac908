// Checking a program without running it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/lib/connection.h"

namespace kenaz::cli {

/// What Futhark's tools understand as: the program is wrong.
inline constexpr int kRejected = 2;

struct CheckOptions {
  std::string server = client::default_server();
  std::string program;
  bool no_warnings = false, warnings_are_errors = false;
};

void add_check_options(CLI::App& app, CheckOptions& options);
/// Prints diagnostics to standard error; gives 0 or kRejected, or the server's other exit codes.
Result<int> check_program(const CheckOptions& options);

}  // namespace kenaz::cli

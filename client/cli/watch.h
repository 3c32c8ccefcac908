// kenaz check --watch.
#pragma once

#include <string>
#include <vector>

#include "client/cli/check.h"

namespace kenaz::cli {

/// Checks the programs, and again those whose files (their imports, too) change, until SIGINT or
/// SIGTERM. Prints diagnostics to standard error (a terminal is cleared before) or, with `json`, a
/// document of all programs per line to standard output. Gives the exit code.
int watch_programs(const CheckOptions& options, const std::vector<std::string>& paths, bool json);

}  // namespace kenaz::cli

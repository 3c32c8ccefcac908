// The options of kenaz-server --shader.
#pragma once

#include <CLI/CLI.hpp>

#include "server/shader/arguments.h"

namespace kenaz::shader {

/// Declares them; they go to `command`, which must outlive the parsing.
void declare(CLI::App& app, Command& command);

}  // namespace kenaz::shader

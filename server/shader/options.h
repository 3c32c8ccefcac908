// The options of kenaz-server --shader.
#pragma once

#include "server/declarer.h"
#include "server/shader/arguments.h"

namespace kenaz::shader {

/// Declares them; they go to `command`, which must outlive the parsing.
void declare(Declarer& app, Command& command);

}  // namespace kenaz::shader

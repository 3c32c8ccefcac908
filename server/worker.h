// A process of a program that a client has loaded: see server/workers.
#pragma once

#include "server/options.h"

namespace kenaz {

/// Starts the device, gives up all that a stranger's program has no use for, takes the program from
/// the server that has started this process, and serves it to that. The exit status.
int serve_worker(Options options);

}  // namespace kenaz

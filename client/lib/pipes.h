// Pipes that much goes through.
#pragma once

namespace kenaz::client {

/// Makes a pipe hold 256 KiB, if it holds less: its two ends then wait for each other less often.
/// What is no pipe, or a pipe that may not grow, stays as it is.
void widen_pipe(int fd);

}  // namespace kenaz::client

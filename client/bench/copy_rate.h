// How fast a device copies its own memory: the measure for what kernels reach.
#pragma once

#include "client/lib/connection.h"

namespace kenaz::bench {

/// Bytes read and written in a microsecond, by a program that changes each element of an array a
/// little. Arrays grow until a copy takes ten milliseconds, or 512 MiB; the quickest of some copies
/// counts, by the device's time stamps. `server`: how servers are started, without a program. Fails
/// if the server does not profile kernels.
Result<double> copy_rate(client::ServerOptions server);

}  // namespace kenaz::bench

// Segmented operations of one point: what one thread does.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launch of an ESeg whose space has no dims, and binds what the statement binds.
void single(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

}  // namespace kenaz::host_code

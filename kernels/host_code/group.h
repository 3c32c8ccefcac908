// ESegs of level kGroup: a kernel whose workgroups each run the body at one point.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launch, and binds what the statement binds.
void group_segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

}  // namespace kenaz::host_code

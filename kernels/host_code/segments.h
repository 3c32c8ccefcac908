// Segmented operations at host level: which kernels they become.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launches, and binds what the statement binds. `behind`: as of map_behind() (behind.h).
void segment(HostArrays& host, const ir::Stm& s, const ir::ESeg& e,
             const ir::Stm* behind = nullptr);

/// Whether there are kernels for it: operators on scalars, and combining writes alone.
bool is_supported(const ir::Program& p, const ir::ESeg& e);

}  // namespace kenaz::host_code

// Maps at host level, scatters among them: which kernels they become.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launches of an ESeg of kind kMap that combines nothing, and binds what the statement
/// binds.
void map(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

}  // namespace kenaz::host_code

// Packings and sorts at host level: which kernels they become.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launches of an ESeg of kind kPack, and binds what the statement binds.
void pack(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);
/// .. of kind kSort.
void sort(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

}  // namespace kenaz::host_code

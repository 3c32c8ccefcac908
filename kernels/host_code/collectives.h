// Reductions, scans and histograms at host level: the facts of which plans are chosen, and the
// elements and places that these work with.
#pragma once

#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Emits the launches of an ESeg of kind kReduce or kScan, and binds what the statement binds; with
/// a map `behind` it (behind.h), what that binds and not what it takes.
void collective(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const ir::Stm* behind);
/// .. of a map that combines what it writes.
void histogram(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

}  // namespace kenaz::host_code

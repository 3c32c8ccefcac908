// What plans that read ahead (program::Target::reads_ahead) know of a reduction's or a scan's
// elements.
#pragma once

#include <optional>

#include "kernels/host_code/neighbours.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

/// None, if the target does not read ahead, or the elements are not of that kind. `neighbours` are
/// the ESeg's.
std::optional<plan::Ahead> ahead_facts(const HostArrays& host, const ir::ESeg& e,
                                       const Neighbours& neighbours);

/// In a kernel, which both parameters outlive.
plan::Elements::Ahead ahead_elements(body::Thread& t, const Neighbours& neighbours);

}  // namespace kenaz::host_code

// What a segmented operation hands to a plan, made by a map before it.
#pragma once

#include <vector>

#include "kernels/host_code/seg_element.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

/// Arrays, with the space's dims, of what the points of `e` (the expression of `s`) hand on; a map
/// makes them, and what `parts` says is stored besides.
std::vector<HostArray> map_operands(HostArrays& host, const ir::Stm& s, const ir::ESeg& e,
                                    const SegParts& parts);
/// Elements that are read from such arrays; `length` is that of a segment.
plan::Elements elements_from(body::Thread& t, const std::vector<HostArray>& operands,
                             const Operand& length);

}  // namespace kenaz::host_code

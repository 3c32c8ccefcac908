// Arrays whose rows threads make, and which are used turned: as their transposes.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// How many dims of its results' types are the space's, of a map whose threads make rows that may
/// lie anywhere; else 0.
size_t dims_of_rows(const ir::ESeg& e);
/// The permutation of an array's dims that puts the first `outer` behind the others.
std::vector<int> points_last(size_t rank, size_t outer);

/// Results of maps that do not lie row by row, and for each of them the permutation of its dims in
/// which it is dense: neighbouring threads store neighbouring elements. All that use such a result
///   - rearrange it that way, at least one to have the transpose in memory, or
///   - read it in kernels whose neighbouring threads read of neighbouring rows, if
///     `stores_by_elements` says of the map and its result that this is how they are stored.
using StoresByElements = std::function<bool(const ir::ESeg& map, size_t result)>;
std::unordered_map<ir::VarId, std::vector<int>> turned_results(
    const ir::Program& p, const StoresByElements& stores_by_elements);

}  // namespace kenaz::host_code

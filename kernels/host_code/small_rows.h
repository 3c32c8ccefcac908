// Maps to small rows of scalars, such as pixels.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// A map, and of each of its results how many scalars of `seg` in a row make one element of it.
struct ScalarResults {
  ir::ESeg seg;
  std::vector<int> lengths;
};

/// The same map with scalars as its only results; nullopt if it has other results than scalars and
/// literals of a few of them. It has the space's statements without those literals.
std::optional<ScalarResults> scalar_results(const ir::Program& p, const ir::ESeg& e);

}  // namespace kenaz::host_code

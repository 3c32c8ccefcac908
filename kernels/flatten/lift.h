// Operators on arrays that work on each element by itself: `reduce (map2 (+)) (replicate m 0)` is
// m reductions of scalars.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// What the replications of a program repeat, by the variable that they bind: neutral elements are
/// made so.
using Replicates = std::unordered_map<ir::VarId, ir::Atom>;
Replicates find_replicates(const ir::Program& p);

struct Lifted {
  ir::Monoid scalar;           // shares its names with the operator that it was
  std::vector<ir::Atom> dims;  // of the arrays; none: the operator was one on scalars
};

/// Null if it is an operator on arrays that is no such map, or has a neutral element that is not
/// one scalar repeated.
std::optional<Lifted> lift(const ir::Program& p, const Replicates& replicates, const ir::Monoid& m);

/// Whether all operators of a combinator are on scalars, or can be taken apart like that; also if
/// it has none.
bool lifts_all(const ir::Program& p, const Replicates& replicates, const ir::Exp& combinator);

}  // namespace kenaz::flatten

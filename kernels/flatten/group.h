// The version of a nest in which a workgroup runs each point of its outer levels: maps, reductions
// and scans inside are spread over the threads of the group, one after the other, and what passes
// from one to the next stays with the group. It is one launch, however many pieces there are and
// however often loops repeat them.
#pragma once

#include <optional>
#include <vector>

#include "kernels/flatten/distribute.h"
#include "kernels/flatten/nest.h"
#include "kernels/flatten/parallelism.h"
#include "kernels/ir/ir.h"

namespace kenaz::flatten {

struct Grouped {
  /// Cheap arithmetic on what is known before, and the ESeg behind it.
  std::vector<ir::Stm> before;
  ir::Stm seg;
  /// The spaces of its pieces, as far as their sizes are known before: how many threads a group can
  /// make use of is the largest of these products.
  std::vector<std::vector<ir::Atom>> spaces;
  bool has_loops = false;  // around pieces
  bool is_heavy = false;   // there are loops in the elements of some
};

/// `s` is a combinator at host level. Binds what `s` binds, inside and outside, under new names.
/// Null if there is none; `why` is set then.
std::optional<Grouped> group_version(ir::Program& p, const ProgramFacts& facts, const ir::Stm& s,
                                     ir::NoGroups::Why& why);

/// The same for a map inside of `nest`, each of whose points has workgroups then; `parallelism` and
/// `values` know the nest.
std::optional<Grouped> group_version(ir::Program& p, const ProgramFacts& facts, const ir::Stm& s,
                                     const Nest& nest, const Parallelism& parallelism,
                                     PointValues& values);

}  // namespace kenaz::flatten

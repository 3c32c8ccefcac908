// Maps whose points reduce something, each over as many elements as it has: rows of a sparse
// matrix, the neighbours of each vertex. Cut at the reductions, so that threads can help each other
// with those.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Such a map, cut. What is made before a reduction and needed behind it, or by its elements, is
/// scalars; views of arrays are made again. The bodies share their names with the map's.
struct Uneven {
  struct Stage {
    /// Statements up to the reduction. Results: its width, `shared`, `kept`.
    Body enter;
    const Stm* reduction = nullptr;  // an ESoac, in the map's body
    std::vector<Stm> views;          // that its elements take anew
    std::vector<VarId> shared;       // that its elements are made of
    std::vector<VarId> kept;         // that nobody needs before the reduction is there
  };
  std::vector<Stage> stages;
  /// What is left of the body: results as those of the map.
  Body leave;

  /// What is known of a point behind this many stages, besides its indices.
  std::vector<VarId> known(size_t stages) const;
};

/// Null if no reduction over so many elements as differ between points stands directly in the body,
/// or one cannot be cut off. `stays`: whether a statement must stay in its thread.
std::optional<Uneven> uneven_of(const Program& p, const ESeg& e,
                                const std::function<bool(const Stm&)>& stays);

}  // namespace kenaz::ir

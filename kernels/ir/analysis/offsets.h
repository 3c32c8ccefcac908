// Indices that are, away from an array's edges, a constant away from the point's own: those of
// samplers that clamp, of tori.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// At most points `index` (i64) is what the index of the space's last dim and `constant` add up to:
/// `min(max(x - 2, 0), w - 1)` is x - 2, say. That is a guess, to be looked at where it is used.
struct Offset {
  VarId index;
  int64_t constant = 0;
  /// Scalar operations that make it, of indices of the space and of what is bound outside of it.
  Body made;
};

/// Of the indices by which the map's body, outside of the bodies in it, reads arrays; those that do
/// not depend on the space's index `fixed`.
std::vector<Offset> offsets_of(const Program& p, const ESeg& e,
                               std::optional<VarId> fixed = std::nullopt);

/// Whether `count` neighbours along the last dim whose indices are at the offsets read the same in
/// part, and, by vectors of as many, take at most half of the loads that they take one by one.
bool neighbours_share(const Program& p, const ESeg& e, const std::vector<Offset>& offsets,
                      int64_t count);

}  // namespace kenaz::ir

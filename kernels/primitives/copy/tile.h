// Transposes by square tiles in shared memory: what a workgroup does with one of them.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::copy {

/// A tile of `side` rows and columns, moved by words of so many neighbours. Both are powers of two.
struct TileShape {
  int side = 32;
  int lanes = 1;
  int words() const { return side / lanes; }  // of a row
};

/// Bytes of shared memory that a tile of such elements takes.
int shared_bytes(const TileShape& shape, PrimType type);

/// A copy across of matrices whose rows are cut into tiles of this shape; a workgroup each. With
/// several lanes, all rows begin and end at multiples of them (Facts::aligned).
plan::Work transpose_by_tiles(const plan::Facts& f, const program::Target& target,
                              const plan::Bind& bind, const TileShape& shape);

}  // namespace kenaz::primitives::copy

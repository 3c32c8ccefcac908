// Scanning tiles in registers, by strips (blocks/strips.h): nothing changes hands in shared memory
// but what the strips come to. A subgroup combines once per piece, which pays where that takes an
// instruction or two.
#pragma once

#include "kernels/primitives/blocks/strips.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan {

class Strips {
 public:
  /// Whether scans of one segment go by strips: elements come as vectors, and the device combines
  /// them by itself.
  static bool fit(const Facts& facts, const Target& target);
  static HostExpr tile_size(const Facts& facts);

  Strips(Team& team, Combiner& combiner);

  /// Scans the tile of segment 0 that begins at `from`, a multiple of tile_size, and ends before
  /// `to`, if not full. It is not empty. `before` as for Tiles. Contains barriers.
  void scan(const Value& from, const Value& to,
            const std::function<Values(const Values& total)>& before);

 private:
  void store(const blocks::Strips::Tile& tile, const std::vector<Values>& results);

  Team& t_;
  Combiner& c_;
  blocks::Strips strips_;
};

/// What a workgroup scans at a time in one pass, and how: strips where they fit, else tiles.
HostExpr group_tile_size(const Facts& facts, const Target& target);
void scan_group_tile(Team& t, Combiner& c, const Value& from,
                     const std::function<Values(const Values& total)>& before);

}  // namespace kenaz::primitives::scan

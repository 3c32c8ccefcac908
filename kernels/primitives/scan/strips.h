// Scanning tiles in registers: of a tile each subgroup has a strip of neighbours, which it takes in
// pieces; of a piece each lane has a few elements side by side. So a tile is loaded and stored by
// whole lines of memory, and nothing changes hands in shared memory but what the strips come to. A
// subgroup combines once per piece, which pays where that takes an instruction or two.
#pragma once

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
  Value size();
  Value first(const Value& from);
  Value offset(int item);
  Value place(const Value& first, int item);
  std::vector<Values> load(const Value& first, const Value& is_whole, const Value& to);
  std::vector<Values> whole(const Value& first);
  std::vector<Values> partial(const Value& first, const Value& to);
  void store(const std::vector<Values>& results, const Value& first, const Value& is_whole,
             const Value& to);

  Team& t_;
  Combiner& c_;
  int items_, piece_;
  Value width_;  // of a subgroup; i32
};

/// What a workgroup scans at a time in one pass, and how: strips where they fit, else tiles.
HostExpr group_tile_size(const Facts& facts, const Target& target);
void scan_group_tile(Team& t, Combiner& c, const Value& from,
                     const std::function<Values(const Values& total)>& before);

}  // namespace kenaz::primitives::scan

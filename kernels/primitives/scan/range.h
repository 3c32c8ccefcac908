// Scanning several tiles by one workgroup.
#pragma once

#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan {

/// What the elements of the one segment from `from` to before `to` come to, as scan_range has them;
/// they are made without what making them stores, and what they carry. Contains barriers.
Values fold_range(Team& t, Combiner& c, const Value& from, const Value& to);

/// Scans the elements of one segment from `from`, a multiple of the tile's size, to before `to`,
/// both equal for the workgroup; `before` stands before them. Contains barriers. `begin_tile`, if
/// given, is called at the start of each tile.
void scan_range(Team& t, Combiner& c, Tiles& tiles, const Value& segment, const Value& from,
                const Value& to, const Values& before,
                const std::function<void(const Value& from)>& begin_tile = {});

}  // namespace kenaz::primitives::scan

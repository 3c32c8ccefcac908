// Inclusive scan in three kernels: tiles scan themselves; one workgroup scans the tiles' totals;
// every tile but the first combines its elements with the total of all before it. One tile needs
// only the first kernel. Order is kept.
#pragma once

#include <cstdint>

#include "kernels/primitives/monoid_text.h"

namespace kenaz::primitives {

inline constexpr int kScanWorkgroup = 256;
inline constexpr int kScanPerThread = 4;
inline constexpr int kScanTile = kScanWorkgroup * kScanPerThread;

struct ScanSpec {
  std::vector<MonoidText> monoids;
  std::string width;             // i64 expression
  std::vector<std::string> out;  // addresses of the dense results, one per value
  std::string totals;            // address: a row of 8-byte values per tile, one per value
};

/// One workgroup per tile; calls elem.
PrimitiveText scan_tiles_text(const ScanSpec& spec);
/// One workgroup.
PrimitiveText scan_totals_text(const ScanSpec& spec);
/// One workgroup per tile.
PrimitiveText scan_add_text(const ScanSpec& spec);

}  // namespace kenaz::primitives

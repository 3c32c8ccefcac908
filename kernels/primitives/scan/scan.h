// Inclusive scan in three kernels: tiles scan themselves; one workgroup scans the tiles' totals;
// every tile but the first combines its elements with the total of all before it. One tile needs
// only the first kernel. Order is kept.
#pragma once

#include <vector>

#include "kernels/primitives/monoids.h"

namespace kenaz::primitives {

inline constexpr int kScanWorkgroup = 256;
inline constexpr int kScanPerThread = 4;
inline constexpr int kScanTile = kScanWorkgroup * kScanPerThread;

struct ScanSpec {
  Monoids monoids;
  kir::Value width;   // i64
  kir::Values out;    // addresses of the dense results, one per value
  kir::Value totals;  // address: a row of 8-byte values per tile, one per value
};

/// Builds main for one workgroup per tile; elem: (i64) -> the values of an element.
void build_scan_tiles(kir::Builder& k, const ScanSpec& spec, kir::FunctionId elem);
/// For one workgroup.
void build_scan_totals(kir::Builder& k, const ScanSpec& spec);
/// For one workgroup per tile.
void build_scan_add(kir::Builder& k, const ScanSpec& spec);

}  // namespace kenaz::primitives

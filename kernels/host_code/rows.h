// Maps whose subgroups each take a run of elements: for targets that read ahead
// (program::Target::reads_ahead).
//
// How they read and store says primitives/blocks/ahead_tile.h.
#pragma once

#include "kernels/host_code/neighbours.h"
#include "kernels/primitives/blocks/ahead_tile.h"

namespace kenaz::host_code {

class Rows {
 public:
  /// Of a map, whose code by `neighbours` it must outlive.
  Rows(HostArrays& host, const ir::ESeg& e, const Neighbours& neighbours);

  /// How many elements a workgroup takes; 0: the map is not of this kind.
  int64_t tile() const { return tile_.size(); }
  /// Of `width` elements, at least one tile; results go to `parts`.
  void launch(ir::ProvId prov, const SegParts& parts, const Operand& width) const;

 private:
  struct Code;
  PrimType type_of(const ir::Stm& load) const;
  std::vector<kir::Values> load_all(Code& code, const kir::Value& tile) const;
  void store_all(Code& code, const std::vector<kir::Values>& loaded) const;

  HostArrays& host_;
  const ir::ESeg& e_;
  const Neighbours& neighbours_;
  primitives::blocks::AheadTile tile_;
};

}  // namespace kenaz::host_code

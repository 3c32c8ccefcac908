// Maps whose subgroups each take a run of elements: for targets that read ahead
// (program::Target::reads_ahead).
//
// A row is what the threads of a subgroup have of an array side by side: thread l has elements
// l * each to l * each + each - 1 of it, as 64-bit words. All threads load all words of a row,
// from the same addresses, and each keeps its own. The driver makes vector loads of that. Each
// stores its own words: a driver that stores thread by thread has the fewest stores so.
#pragma once

#include "kernels/gpu/neighbours.h"

namespace kenaz::gpu {

class Rows {
 public:
  /// Of a map, whose code by `neighbours` it must outlive.
  Rows(HostGen& host, const ir::ESeg& e, const Neighbours& neighbours);

  /// How many elements a workgroup takes; 0: the map is not of this kind.
  int64_t tile() const { return tile_; }
  /// Of `width` elements, at least one tile; results go to `parts`.
  void launch(ir::ProvId prov, const SegParts& parts, const Operand& width) const;

 private:
  struct Code;
  int words(PrimType t) const;  // of a thread, in a row
  PrimType type_of(const ir::Stm& load) const;
  std::vector<kir::Values> load_all(Code& code, const kir::Value& group) const;
  kir::FunctionId point(body::Thread& t) const;
  void store_all(Code& code, const std::vector<kir::Values>& loaded) const;

  HostGen& host_;
  const ir::ESeg& e_;
  const Neighbours& neighbours_;
  int lanes_;
  int each_ = 1;   // elements of a thread in a row
  int count_ = 0;  // rows
  int64_t tile_ = 0;
};

}  // namespace kenaz::gpu

// Scanning tiles: a workgroup's elements at a time. Elements are made and results are put in turns
// of neighbours; between, each thread has a few elements in a row. They change hands in shared
// memory.
#pragma once

#include <functional>

#include "kernels/primitives/blocks/combine.h"

namespace kenaz::primitives::scan {

using blocks::Combiner;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

/// Elements of a tile per thread: as many as shared memory allows, up to 16.
int items_per_thread(const Facts& facts, const Target& target);
/// Bytes of shared memory that there are for each thread's part of tiles and of what combines them.
int room_for_tiles(const Facts& facts, const Target& target);
HostExpr tile_size(const Facts& facts, const Target& target);
/// Iterations of a thread's loops that a tile takes, at most.
int64_t turns_per_tile(const Facts& facts, const Target& target);

class Tiles {
 public:
  /// At the start of the kernel; may contain a barrier.
  Tiles(Team& team, Combiner& combiner);

  /// Elements of a tile; i64.
  Value size();
  /// Scans the tile of one segment that begins at `from`, a multiple of size(), and ends before
  /// `to`, if not full. `before` gives what stands before it, given the tile's total, and may have
  /// barriers. Contains barriers, may stand in a uniform loop.
  void scan(const Value& segment, const Value& from, const Value& to,
            const std::function<Values(const Values& total)>& before);

 private:
  void clear();
  Value padded(const Value& slot);
  int piece() const;
  Value slot_of_piece(const Value& j);
  void for_each(
      const Value& from, const Value& to,
      const std::function<void(const Value& place, const Value& slot, const Value& live)>& body);
  void load(const Value& segment, const Value& from, const Value& to);
  void load_whole(const Value& segment, const Value& from);
  void load_live(const Value& segment, const Value& from, const Value& to);
  void store(const Value& segment, const Value& from, const Value& to);
  void store_whole(const Value& segment, const Value& from);
  void keep(const Value& slot, const Values& x);
  void keep_carried(const Value& slot, const Values& element);
  Values kept(const Value& slot);
  Values element(const Value& slot);

  Team& t_;
  Combiner& c_;
  int items_;
  std::vector<kir::SharedId> values_, carried_;
};

}  // namespace kenaz::primitives::scan

// Plans of one segment on targets that read ahead: what reductions and scans have in common.
//
// A workgroup of one subgroup takes a tile (ahead_tile.h). What the tiles come to stands in boxes;
// so many of these are a chunk, which a workgroup takes, too. No kernel has barriers: a driver for
// CPUs keeps all that threads have in memory across them.
#pragma once

#include "kernels/plan/team.h"
#include "kernels/primitives/blocks/ahead_tile.h"
#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/blocks/ticket.h"

namespace kenaz::primitives::blocks {

/// The tile for an operation that also stores scalars of these types for each element; 0 units:
/// there are no such plans for it.
AheadTile ahead_tile(const plan::Facts& f, const program::Target& target, AheadTile::Order order,
                     const std::vector<PrimType>& stored);
/// For which lengths such plans are preferred.
plan::HostExpr ahead_when(const plan::Facts& f, const program::Target& target,
                          const AheadTile& tile);

/// The tile of a workgroup's number, in a kernel.
class AheadElements {
 public:
  /// At the start of the kernel. `besides` loads what else the kernel reads ahead.
  AheadElements(Team& t, const AheadTile& tile, const std::function<void()>& besides = {});

  /// Of all of this thread's elements.
  Values total();

  Value from, to;                // of the tile; i64
  Value whole;                   // it is; else the elements are not the tile's
  std::vector<Values> elements;  // this thread's
  Value first, last;             // else: positions that this thread has, from and to before; i64

 private:
  Team& t_;
};

class AheadSteps {
 public:
  AheadSteps(const plan::Facts& f, const program::Target& target, const plan::Bind& bind,
             const AheadTile& tile);

  /// A kernel for all tiles, or for some other number of workgroups.
  void for_tiles(const std::string& name, const std::function<void(Team&)>& build);
  /// What each tile comes to, into its box.
  void totals();
  /// .. and all boxes, to `put`, by one thread.
  void reduce_boxes(const std::function<void(Team&, const Values&)>& put);
  /// What stands before each box, in the chunk and before that.
  void scan_boxes();
  /// What stands before the workgroup's tile: may be read ahead.
  Values before(Team& t);

  plan::Work take() { return maker_.take(); }

 private:
  void step(const std::string& name, const plan::HostExpr& groups,
            const std::function<void(Team&)>& build);
  Mailboxes boxes(Team& t);
  Mailboxes chunks(Team& t);

  const plan::Facts& facts_;
  AheadTile tile_;
  plan::Maker maker_;
  int64_t share_;  // boxes of a chunk per thread
  plan::HostExpr n_tiles_, n_chunks_;
  plan::ScratchId boxes_, chunks_;
};

}  // namespace kenaz::primitives::blocks

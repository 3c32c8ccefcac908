// Packing tiles: a workgroup's elements at a time. Each thread makes a few elements, in pieces of
// neighbours, and counts them by class; sums of the counts over the workgroup say which number each
// element has in its class. In shared memory the elements of a class become neighbours, and are put
// by neighbouring threads from there.
#pragma once

#include <functional>

#include "kernels/primitives/blocks/combine.h"

namespace kenaz::primitives::pack {

using blocks::Combiner;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

/// Sums of one number for each class that is counted.
plan::Operator counting(const Facts& facts, PrimType type);
/// The operator's scalars of an element, given its class (i32).
Values flags(Builder& k, const Facts& facts, const Value& of_class, PrimType type);

HostExpr tile_size(const Facts& facts, const Target& target);
/// Iterations of a thread's loops that a tile takes, at most.
int64_t turns_per_tile(const Facts& facts, const Target& target);

class Tiles {
 public:
  /// At the start of the kernel.
  explicit Tiles(Team& team);

  /// Elements of a tile; i64.
  Value size();
  /// At which positions (i64) of the result the tile's elements begin, for each class that is
  /// counted and then, if it is kept, the rest; given how many there are of each (i32). It may meet
  /// at barriers, and stop the workgroup.
  using Starts = std::function<Values(const Values& counts)>;
  /// Packs the tile that begins at `from` and ends before `to`, if it is not whole. Contains
  /// barriers, may stand in a uniform loop. None or all threads may have stopped before.
  void tile(const Value& from, const Value& to, const Starts& starts);
  /// How many elements of each class (i64) this thread makes of those from `from` to before `to`.
  /// All threads take as many turns, also where the call is stopped: what this kernel counts is
  /// what it puts.
  Values count(const Value& from, const Value& to);
  /// Packs all from `from` to before `to`, both equal for the workgroup; `at` are the positions of
  /// the next element of each class.
  void range(const Value& from, const Value& to, const kir::Vars& at);

 private:
  /// Elements that a thread has made: pieces of neighbours.
  using Pieces = std::vector<std::vector<Values>>;
  Value first_slot(int j);
  Pieces whole(const Value& from);
  Pieces partial(const Value& from, const Value& to);
  Pieces elements(const Value& from, const Value& to);
  void pack(const Pieces& made, const Value& length, const Starts& starts);
  Starts advance(const kir::Vars& at);
  void put(const Values& firsts, const Values& starts);

  Team& t_;
  int items_, piece_, counted_;
  Combiner sums_;
  std::vector<kir::SharedId> carried_;
};

}  // namespace kenaz::primitives::pack

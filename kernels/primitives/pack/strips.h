// Packing tiles of one class in registers, by strips (blocks/strips.h): all of a thread's elements
// are reached from one address, and whether they are kept are the bits of one word. So more
// workgroups are at work than with tiles.h, which can do the rest.
#pragma once

#include <functional>

#include "kernels/primitives/blocks/strips.h"
#include "kernels/primitives/pack/tiles.h"

namespace kenaz::primitives::pack {

class Strips {
 public:
  /// Whether there are elements of one class, of which shared memory has room for some, and
  /// subgroups of one size.
  static bool fit(const Facts& facts, const Target& target);
  static HostExpr tile_size(const Facts& facts, const Target& target);

  /// At the start of the kernel.
  explicit Strips(Team& team);

  /// How many elements (i32) of the class this thread makes of the tile that begins at `from` and
  /// ends before `to`, if it is not whole.
  Value count(const Value& from, const Value& to);
  /// At which position (i32) of the result the tile's elements begin, given how many there are
  /// (i32). It must meet at a barrier, and may stop the workgroup.
  using Start = std::function<Value(const Value& count)>;
  /// Packs the tile; `sums` adds up i32. Contains barriers, may stand in a uniform loop. None or
  /// all threads may have stopped before.
  void pack(Combiner& sums, const Value& from, const Value& to, const Start& start);

 private:
  std::vector<Values> load(const Value& from, const Value& to);
  Value is_kept(const Values& element);
  Value count_bits(const Value& kept, int piece);
  std::vector<Value> before_pieces(const Value& kept, Value& strip);
  void put(const Value& start, const Value& count);

  Team& t_;
  blocks::Strips strips_;
  int width_;  // of a subgroup
  std::vector<kir::SharedId> carried_;
};

}  // namespace kenaz::primitives::pack

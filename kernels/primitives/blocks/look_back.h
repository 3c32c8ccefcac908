// Prefixes over workgroups in one dispatch: each publishes the total of its tile, then combines
// those of the tiles before it, back to the first whose prefix is known, or all. Needs workgroups
// that proceed once they have started; tiles are numbered in the order in which workgroups start,
// so what one waits for has started. That order is the one of the workgroups' own numbers, or it is
// counted.
#pragma once

#include <optional>

#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/blocks/ticket.h"

namespace kenaz::primitives::blocks {

class LookBack {
 public:
  /// What the host allocates for it.
  struct Memory {
    plan::HostExpr tiles;
    plan::ScratchId state;  // two tickets: started and finished workgroups
    plan::ScratchId words;  // per tile: what it has published, and where it fits, the value
    plan::ScratchId boxes;  // other values: totals, then prefixes
    bool cleared_behind;
  };
  /// Who zeroes the memory: the last workgroup to finish, for which others must wait until memory
  /// has what they published; or, `cleared_behind`, a kernel behind this one, which takes a launch.
  static Memory memory(plan::Maker& m, const plan::OpFacts& op, const program::Target& target,
                       const plan::HostExpr& tiles, bool cleared_behind = false);
  /// The launch of that kernel.
  static void clear(plan::Maker& m, const plan::OpFacts& op, const program::Target& target,
                    const Memory& memory);

  /// At the start of the kernel.
  LookBack(Team& team, Combiner& combiner, const Memory& memory);

  /// The number of this workgroup's tile; may contain a barrier.
  Value tile();
  /// What stands before the tile, for all threads; contains barriers. `total`: of the tile.
  Values before(const Value& tile, const Values& total);
  /// The same for few tiles: each thread looks at some of those before, and all at once. All
  /// workgroups must do so.
  Values before_at_once(const Value& tile, const Values& total);
  /// After `before` or `before_at_once`; once.
  void finish();

 private:
  enum Flag : uint32_t { kTotal = 1, kPrefix = 2 };
  struct Published {
    Value flag;  // u32; 0: the thread has been stopped while it waited
    Values x;
  };
  void publish(const Value& tile, Flag flag, const Values& x);
  Published wait_for(const Value& tile);
  Published wait_for_packed(const Value& tile);
  void look_back(const Value& tile, const kir::Vars& acc);
  void look_back_alone(const Value& tile, const kir::Vars& acc);
  kir::Address word(const Value& tile, int number = 0);
  kir::Address finished() const { return {state_, kir::i32(1)}; }
  void arrive();

  Team& t_;
  Combiner& c_;
  /// Words of 64 bits that a value is packed into, each with 32 bits of it and the flag: the value
  /// is whole where all have the same flag, whatever order memory has them in. 0: it is in a box,
  /// and there is one word with the flag.
  int packed_;
  Value tiles_, state_, words_;
  Mailboxes boxes_;
  std::optional<LastArrival> arrival_;  // none: the memory is cleared behind
  std::vector<kir::SharedId> found_;
};

}  // namespace kenaz::primitives::blocks

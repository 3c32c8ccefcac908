// What plans have in common that sort by a digit after the other: the elements from pass to pass,
// and tiles of them that are put where they belong.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "kernels/primitives/sort/ranks.h"

namespace kenaz::primitives::sort {

class Passes {
 public:
  /// Allocates what the elements between two passes need. Facts must outlive this.
  Passes(const Facts& facts, const Shape& shape, plan::Maker& maker);

  /// Of an element: its key, then what it carries.
  const std::vector<PrimType>& types() const { return types_; }
  /// Calls add(key) for the elements from `from`, where a tile begins, and before `to` (i64) that a
  /// pass reads, each in one thread of the workgroup. Uniform: no thread stops before what the
  /// others count on.
  void for_keys(Team& t, int pass, const Value& from, const Value& to,
                const std::function<void(const Value& key)>& add) const;
  /// The thread's elements of the tile from `from` on. Behind the last one before `to` are others
  /// with the greatest key: they come behind all.
  std::vector<Values> load(Team& t, Ranks& ranks, int pass, const Value& from,
                           const Value& to) const;
  /// Puts an element at a position (i64) of what the pass leaves.
  std::function<void(const Value& at, const Values& x)> putter(Team& t, int pass) const;

 private:
  Values blocks_of(Team& t, int side) const;
  plan::Elements elements(Team& t, int pass, bool keys_only) const;
  int neighbours(int pass) const;

  const Facts& f_;
  Shape s_;
  std::vector<PrimType> types_;
  std::array<std::vector<plan::ScratchId>, 2> between_;
};

/// body(n) (i32) for all n from 0 on and before `count`, each in one thread of the workgroup.
/// Uniform: no thread stops in it.
void for_all(Team& t, int count, const std::function<void(const Value& n)>& body);

/// A workgroup's tiles of one pass.
class Placer {
 public:
  /// At the start of the kernel.
  /// `places`: the type of `ahead`, i64 or, where the result has fewer than 2^31 elements, i32.
  Placer(Team& team, const Shape& shape, const Passes& passes, int pass, PrimType places);

  Ranks& ranks() { return ranks_; }
  /// By value of the digit: how far it is from an element's place in the sorted tile to its place
  /// in the result (shared).
  kir::SharedId ahead() const { return ahead_; }
  /// Puts the elements of the tile from `from` on that stand before `to`. `begin`: as for
  /// Ranks::places. `meet`: when it has met at a barrier, `ahead` is known. No thread may have
  /// stopped before; where one does in `meet`, all must.
  void tile(const Value& from, const Value& to, const Ranks::Begin& begin, const Builder::Do& meet);

 private:
  Team& t_;
  Shape s_;
  const Passes& passes_;
  int pass_;
  PrimType places_;
  Ranks ranks_;
  kir::SharedId ahead_;
  std::vector<kir::SharedId> sorted_;
  std::function<void(const Value& at, const Values& x)> put_;
};

}  // namespace kenaz::primitives::sort

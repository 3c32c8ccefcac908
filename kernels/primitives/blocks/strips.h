// Where the elements of a tile are that stays in registers: of a tile each subgroup has a strip of
// neighbours, which it takes in pieces; of a piece each lane has a few elements side by side. So a
// tile is loaded and stored by whole lines of memory.
#pragma once

#include <functional>

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

class Strips {
 public:
  /// Each thread has `items` elements, in pieces of `piece`, which divides them and is at most
  /// Facts::widest.
  Strips(plan::Team& team, int items, int piece);

  int items() const { return items_; }
  int piece() const { return piece_; }

  /// This thread's elements of the tile of segment 0 that begins at `from` and ends before `to`, if
  /// it is not whole.
  struct Tile {
    kir::Value first;  // the position of the thread's first element; i64
    kir::Value to, is_whole;
  };
  Tile tile(const kir::Value& from, const kir::Value& to);
  /// The position of the thread's n-th element.
  kir::Value place(const Tile& tile, int n);
  /// What is behind the end is `none`.
  std::vector<kir::Values> load(const Tile& tile, const kir::Values& none);
  /// Calls `body` with the number of each element before the end, under a condition; of a tile that
  /// is not whole.
  void for_each(const Tile& tile, const std::function<void(int n)>& body);

 private:
  kir::Value offset(int n);
  kir::Values whole(const Tile& tile);
  kir::Values partial(const Tile& tile, const kir::Values& none);

  plan::Team& t_;
  int items_, piece_;
  kir::Value width_;  // lanes of a subgroup; i32
};

}  // namespace kenaz::primitives::blocks

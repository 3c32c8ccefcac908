// The order of a tile's elements by a digit: how many of the tile stand before each when it is
// sorted. The lanes of a subgroup find out by ballots who else has their digit; subgroups count in
// rows of their own in shared memory.
#pragma once

#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/sort/shape.h"

namespace kenaz::primitives::sort {

class Ranks {
 public:
  /// At the start of the kernel.
  Ranks(Team& team, const Shape& shape);

  /// The number (i32) of the thread's j-th element in a tile.
  Value own(int j);
  /// Of a tile that begins at `from`: the element's position. Those of a thread are told apart by
  /// what is added last.
  Value own(const Value& from, int j);
  /// Before the first, and behind what read the ranks of the tile before.
  void begin_tile();
  /// Finds the places (i32) of the thread's elements in the sorted tile, given their digits (i32):
  /// calls place(j, place of the j-th). Contains barriers, none behind the first place. No thread
  /// may have stopped. Calls begin(digit, place of the first one, their number) (i32) once for each
  /// digit's value, in some thread.
  using Begin = std::function<void(const Value& digit, const Value& first, const Value& count)>;
  using Place = std::function<void(size_t j, const Value& place)>;
  void places(const Values& digits, const Begin& begin, const Place& place);
  /// Calls body(digit) (i32) for the values of which this thread keeps books; they are neighbours,
  /// and their number is at most `per_thread`. Uniform.
  void for_own_digits(const std::function<void(const Value& digit)>& body);

 private:
  Value cell(const Value& row, const Value& digit);
  /// How many of its row's elements before each have its digit, and above these bits the digit.
  static constexpr int kRankBits = 16;
  void count(const Values& digits, const kir::Vars& counted);
  void count_in_turn(const Values& digits, const kir::Vars& counted);
  void count_one(const Value& digit, const Values& everyone, const kir::Var& counted_as);
  Value lane_mask(int word);

  Team& t_;
  Shape s_;
  kir::SharedId counts_;
  blocks::Combiner sums_;
  Value subgroup_, lane_, width_;  // i32; without subgroups every thread is one
  Value rows_;                     // of counts
  Value turns_;                    // subgroups that share a row
};

}  // namespace kenaz::primitives::sort

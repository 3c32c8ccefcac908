// Maps whose neighbouring points read the same: stencils, convolutions, windows. A thread that
// takes points along a dim one after the other need not make all of each point anew.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// How a thread walks along a dim of a map.
struct Walk {
  /// At the next point, `value` is what `from` is at this one.
  struct Carried {
    VarId value, from;
  };
  /// A loop that adds up integers in a window, statement `at` of `rest`. In the point before, the
  /// loop's iteration i + 1 added what iteration i adds here: so of the sums there, what `first`
  /// gives for iteration -1 is taken away, and what `last` gives for the last iteration is added.
  /// Nothing in `first` fails: it was made in the point before, and checked. All this if the loop
  /// has iterations; how many is known outside of the map.
  struct Slide {
    size_t at = 0;
    Body first, last;
  };
  /// Of the space. Threads are neighbours along the last one: that it is only for the sake of
  /// slides.
  size_t dim = 0;
  std::vector<Carried> carried;
  std::vector<Slide> slides;
  /// Whether neighbours along the last dim read the same, in the main.
  bool neighbours_share = false;
  /// Of the first point. Results: what is carried, then the slides' sums, loop by loop.
  Body start;
  /// Of every point, given what is carried and the slides' sums. Results: those of the map's body.
  Body rest;
};

/// The walk that spares the most of a point's loads, along the last dim only if there is no other;
/// null if none spares half of them, or the map is not made of scalars alone. The bodies share
/// their names with the map's.
std::optional<Walk> walk_of(const Program& p, const ESeg& e);

}  // namespace kenaz::ir

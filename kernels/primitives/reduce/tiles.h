// Products of matrices, and all else whose elements are made of a factor for each row and one for
// each column (Facts::factors): blocks of them by workgroups, through shared memory.
#pragma once

#include "kernels/primitives/reduce/fold.h"

namespace kenaz::primitives::reduce {

/// A workgroup of rows x columns threads, each of which reduces down x along segments.
struct Shape {
  int rows, columns, down, along;
};

/// Bytes of all the values that a thread combines into: more do not stay in registers.
inline constexpr int kMostAccumulated = 256;

bool tiles_apply(const Facts& f, const Target& target, const Shape& s);
/// From which sizes on blocks are preferred: so many rows and columns, that most of a block is not
/// empty, and results of all matrices, that there is a block for every processor.
struct Least {
  int64_t side, results;
};
HostExpr tiles_when(const Facts& f, const Target& target, const Least& least);
plan::Work make_tiles(const Facts& f, const Target& target, const plan::Bind& bind, const Shape& s);

/// The same for few results of long segments: a workgroup takes some of a block's positions, and a
/// second kernel combines what the parts came to. Preferred where there are several parts, and
/// where results alone leave most of the device without work.
HostExpr split_tiles_when(const Facts& f, const Target& target, const Shape& s);
plan::Work make_split_tiles(const Facts& f, const Target& target, const plan::Bind& bind,
                            const Shape& s);

}  // namespace kenaz::primitives::reduce

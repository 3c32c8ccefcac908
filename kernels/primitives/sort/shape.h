// How a sort is cut: the digits of its keys, what a thread and a workgroup take at a time.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::sort {

using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

struct Shape {
  int lanes;   // of a subgroup; 1: subgroups are not used
  int bits;    // of a digit
  int digits;  // how many values one has
  int passes;  // digits of a key
  int items;   // elements of a thread at a time
  int threads;
};
Shape shape_of(const Facts& facts, const Target& target);

/// Elements of a tile.
HostExpr tile_size(const Shape& shape);
/// Iterations of a thread's loops that a tile takes, at most.
int64_t turns_per_tile(const Shape& shape);

/// Which value (i32) a key has in the digit that begins at bit `shift` (i32).
Value digit_of(Builder& k, const Shape& shape, const Value& key, const Value& shift);
Value digit_of(Builder& k, const Shape& shape, const Value& key, int shift);

}  // namespace kenaz::primitives::sort

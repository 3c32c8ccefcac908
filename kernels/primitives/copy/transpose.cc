#include "kernels/primitives/copy/plan_functions.h"
#include "kernels/primitives/copy/tile.h"

namespace kenaz::primitives::copy {

namespace {

using plan::Facts;
using plan::HostExpr;
using program::Target;

bool fits(const Facts& f, const Target& target, const TileShape& shape) {
  return f.across && f.carried.size() == 1 &&
         shared_bytes(shape, f.carried[0]) < target.shared_bytes;
}

HostExpr at_least(const Facts& f, int side) {
  const HostExpr matrix = f.matrix.is(0) ? f.segments : f.matrix;
  return and_(le(side, matrix), le(side, f.length));
}

}  // namespace

namespace words {

namespace {

// Words of four bytes for narrow elements, of 16 for others; 128 and 256 bytes of a row, as whole
// lines of the cache.
TileShape shape(const Facts& f) {
  const int size = prim_size(f.carried[0]);
  if (size < 4) return {128 / size, 4 / size};
  return {256 / size, 16 / size};
}

}  // namespace

bool applies(const Facts& f, const Target& target) { return fits(f, target, shape(f)); }

HostExpr when(const Facts& f, const Target&) {
  const TileShape s = shape(f);
  const HostExpr rest = HostExpr::op(ScalarOp::kAnd, {f.aligned, s.lanes - 1});
  return and_(le(rest, 0), at_least(f, s.side / 2));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Facts fewer = f;  // threads: each then has more in flight
  if (fewer.group_size == 0) fewer.group_size = 128;
  return transpose_by_tiles(fewer, target, bind, shape(f));
}

}  // namespace words

namespace transpose {

namespace {

// Enough neighbours for whole lines of the cache.
TileShape shape(const Facts& f) { return {prim_size(f.carried[0]) <= 2 ? 64 : 32, 1}; }

}  // namespace

bool applies(const Facts& f, const Target& target) { return fits(f, target, shape(f)); }

HostExpr when(const Facts& f, const Target&) { return at_least(f, 8); }  // else most of it is empty

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return transpose_by_tiles(f, target, bind, shape(f));
}

}  // namespace transpose

}  // namespace kenaz::primitives::copy

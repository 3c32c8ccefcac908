// The plans that work by tiles, by the size of their blocks. A larger one loads less for each
// element, a smaller one leaves fewer processors without work.
#include "kernels/primitives/reduce/plan_functions.h"
#include "kernels/primitives/reduce/tiles.h"

namespace kenaz::primitives::reduce {

namespace {
constexpr Shape k128{16, 16, 8, 8}, k64{16, 16, 4, 4}, k32{8, 8, 4, 4};
}  // namespace

namespace tiles128 {
bool applies(const Facts& f, const Target& target) { return tiles_apply(f, target, k128); }
HostExpr when(const Facts& f, const Target& target) {
  return tiles_when(f, target, {96, 8 * target.threads});
}
plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_tiles(f, target, bind, k128);
}
}  // namespace tiles128

namespace tiles64 {
bool applies(const Facts& f, const Target& target) { return tiles_apply(f, target, k64); }
HostExpr when(const Facts& f, const Target& target) {
  return tiles_when(f, target, {48, 2 * target.threads});
}
plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_tiles(f, target, bind, k64);
}
}  // namespace tiles64

namespace tiles32 {
bool applies(const Facts& f, const Target& target) { return tiles_apply(f, target, k32); }
HostExpr when(const Facts& f, const Target& target) {
  return tiles_when(f, target, {16, target.threads / 16});
}
plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_tiles(f, target, bind, k32);
}
}  // namespace tiles32

}  // namespace kenaz::primitives::reduce

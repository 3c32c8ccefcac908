// The plans that work by tiles, by the size of their blocks. A larger one loads less for each
// element, a smaller one leaves fewer processors without work.
#include "kernels/primitives/reduce/plan_functions.h"
#include "kernels/primitives/reduce/tiles.h"

namespace kenaz::primitives::reduce {

#define TILES(name, shape, ...)                                                         \
  bool name::applies(const Facts& f, const Target& target) {                            \
    return tiles_apply(f, target, shape);                                               \
  }                                                                                     \
  HostExpr name::when(const Facts& f, const Target& target) {                           \
    return tiles_when(f, target, __VA_ARGS__);                                          \
  }                                                                                     \
  plan::Work name::make(const Facts& f, const Target& target, const plan::Bind& bind) { \
    return make_tiles(f, target, bind, shape);                                          \
  }
TILES(tiles128, (Shape{16, 16, 8, 8}), {96, 8 * target.threads})
TILES(tiles64, (Shape{16, 16, 4, 4}), {48, 2 * target.threads})
TILES(tiles32, (Shape{8, 8, 4, 4}), {16, target.threads / 16})
#undef TILES

namespace split_tiles {
namespace {
constexpr Shape kShape{16, 16, 4, 4};
}  // namespace

bool applies(const Facts& f, const Target& target) { return tiles_apply(f, target, kShape); }
HostExpr when(const Facts& f, const Target& target) { return split_tiles_when(f, target, kShape); }
plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_split_tiles(f, target, bind, kShape);
}
}  // namespace split_tiles

}  // namespace kenaz::primitives::reduce

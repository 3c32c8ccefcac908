#include "kernels/scalar/lanes.h"

#include "kernels/scalar/table.h"

namespace kenaz {
namespace {

using namespace scalar;  // NOLINT(google-build-using-namespace): its table's columns

template <ScalarFn fn>
void lanes(uint64_t* dst, const uint64_t* a, const uint64_t* b, const uint64_t* c, size_t n) {
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (size_t k = 0; k < n; ++k) dst[k] = fn(a[k], b[k], c[k]);
}

struct OfMany {
  using Fn = LaneFn;
  template <ScalarFn fn>
  static constexpr Fn of() {
    return &lanes<fn>;
  }
};

}  // namespace

LaneFn lane_fn(ScalarOp op, PrimType type, PrimType to) {
  return Table<OfMany>::find(op, type, to);
}

}  // namespace kenaz

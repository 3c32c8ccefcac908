#include "kernels/scalar/lanes.h"

#include <array>

#include "kernels/scalar/apply.h"
#include "protocol/base/check.h"

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

template <ScalarOp op, PrimType P>
constexpr LaneFn pick_one() {
  if constexpr (op == ScalarOp::kConvert || op == ScalarOp::kBitcast ||
                !in_domain(kOps[static_cast<int>(op)].domain, P)) {
    return nullptr;
  } else {
    return &lanes<&apply<op, P>>;
  }
}
template <ScalarOp op>
constexpr std::array<LaneFn, kPrimTypeCount> pick() {
  return {
#define PRIM(e, name, bytes, kind) pick_one<op, PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
  };
}
constexpr std::array<LaneFn, kPrimTypeCount> kFns[] = {
#define SCALAR_OP(e, name, arity, domain, result) pick<ScalarOp::e>(),
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
};

template <PrimType From>
constexpr std::array<LaneFn, kPrimTypeCount> converts() {
  return {
#define PRIM(e, name, bytes, kind) &lanes<&convert<From, PrimType::e>>,
#include "protocol/prim_type.def"
#undef PRIM
  };
}
constexpr std::array<LaneFn, kPrimTypeCount> kConverts[] = {
#define PRIM(e, name, bytes, kind) converts<PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
};

}  // namespace

LaneFn lane_fn(ScalarOp op, PrimType type, PrimType to) {
  if (op == ScalarOp::kConvert) return kConverts[static_cast<int>(type)][static_cast<int>(to)];
  if (op == ScalarOp::kBitcast) {
    if (to == PrimType::kBool) return &lanes<&bits_to_bool>;
    switch (prim_size(to)) {
      case 1: return &lanes<&same_bits<1>>;
      case 2: return &lanes<&same_bits<2>>;
      case 4: return &lanes<&same_bits<4>>;
      default: return &lanes<&same_bits<8>>;
    }
  }
  const LaneFn fn = kFns[static_cast<int>(op)][static_cast<int>(type)];
  CHECK(fn != nullptr);
  return fn;
}

}  // namespace kenaz

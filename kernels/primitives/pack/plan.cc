// The plans of packing: each is one of the plans of scans.
#include "kernels/primitives/pack/counting.h"
#include "kernels/primitives/pack/plan_functions.h"
#include "kernels/primitives/scan/plan_functions.h"

namespace kenaz::primitives::pack {

namespace {

using plan::Facts;
using plan::HostExpr;
using program::Target;

constexpr int64_t kMostNarrow = 0x7fffffff;

HostExpr narrow_when(const Facts& f, const Target& target,
                     HostExpr (*when)(const Facts&, const Target&)) {
  const Counting c(f, {}, PrimType::kI32);
  return and_(le(f.length, kMostNarrow), when(c.facts(), target));
}

plan::Work counted(const Facts& f, const Target& target, const plan::Bind& bind, PrimType type,
                   plan::Work (*make)(const Facts&, const Target&, const plan::Bind&)) {
  const Counting c(f, bind, type);
  return c.with_empty(make(c.facts(), target, c.bind()), target);
}

}  // namespace

#define NARROW(name)                                                                    \
  bool name::applies(const Facts& f, const Target& target) {                            \
    return scan::name::applies(f, target);                                              \
  }                                                                                     \
  HostExpr name::when(const Facts& f, const Target& target) {                           \
    return narrow_when(f, target, scan::name::when);                                    \
  }                                                                                     \
  plan::Work name::make(const Facts& f, const Target& target, const plan::Bind& bind) { \
    return counted(f, target, bind, PrimType::kI32, scan::name::make);                  \
  }
NARROW(group)
NARROW(look_back)
NARROW(reduce_then_scan)
#undef NARROW

bool wide::applies(const Facts&, const Target&) { return true; }
HostExpr wide::when(const Facts&, const Target&) { return HostExpr::boolean(true); }
plan::Work wide::make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return counted(f, target, bind, PrimType::kI64, scan::reduce_then_scan::make);
}

}  // namespace kenaz::primitives::pack

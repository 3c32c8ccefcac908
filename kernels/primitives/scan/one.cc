#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::one {

bool applies(const Facts& f, const Target&) { return !f.segments.is(1); }

HostExpr when(const Facts& f, const Target&) { return and_(le(f.segments, 1), le(1, f.segments)); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Facts flat = f;
  flat.segments = 1;
  flat.across = false;
  const bool looks_back =
      look_back::applies(flat, target) && look_back::when(flat, target).is_true();
  return looks_back ? look_back::make(flat, target, bind)
                    : reduce_then_scan::make(flat, target, bind);
}

}  // namespace kenaz::primitives::scan::one

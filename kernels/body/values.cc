#include "kernels/body/values.h"

namespace kenaz::body {

bool identical(const KernelArray& a, const KernelArray& b) {
  if (a.kind != ArrayKind::kMemory || b.kind != ArrayKind::kMemory) return false;
  if (a.base != b.base || a.shared != b.shared || a.local != b.local || a.elem != b.elem)
    return false;
  const auto &x = a.layout, &y = b.layout;
  if (x.offset != y.offset || x.dense != y.dense || x.dims.size() != y.dims.size()) return false;
  if (!x.dense) return x.strides == y.strides;
  for (size_t k = 1; k < x.dims.size(); k++) {
    if (x.dims[k] != y.dims[k]) return false;
  }
  return x.unit == y.unit;
}

}  // namespace kenaz::body

// Views of arrays that may have no memory; those of memory are LayoutMath's. The arithmetic is that
// of LayoutMath, and has emit_op(op, type, to, args) besides, for elements of any type.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "kernels/body/host.h"

namespace kenaz::body {

/// The dims of an index or a slice. `scalar` gives the value of an atom.
template <class Scalar>
auto slice_dims(const std::vector<ir::Dim>& dims, const Scalar& scalar) {
  using S = decltype(scalar(std::declval<ir::Atom>()));
  SliceDims<S> out;
  for (const auto& d : dims) {
    if (const auto* fix = std::get_if<ir::DimFix>(&d)) {
      out.emplace_back(scalar(fix->index));
    } else {
      const auto& r = std::get<ir::DimRange>(d);
      out.emplace_back(SliceRange<S>{scalar(r.start), scalar(r.len), scalar(r.stride)});
    }
  }
  return out;
}

/// Array: HostArray in host code, KernelArray in kernels.
template <class A>
class ViewMath {
 public:
  using S = typename A::Scalar;
  explicit ViewMath(A& a) : a_(a) {}

  template <class Array>
  S iota_element(const Array& a, const S& i) {
    const S n = a_.emit_op(ScalarOp::kConvert, PrimType::kI64, a.elem, {i});
    return a_.emit_op(ScalarOp::kAdd, a.elem, a.elem, {a.start, product(a.elem, n, a.stride)});
  }

  template <class Array>
  Array sliced(Array a, const SliceDims<S>& dims) {
    if (a.kind == ArrayKind::kMemory) {
      a.layout = LayoutMath(a_).slice(a.layout, dims);
      return a;
    }
    a.layout.dims.clear();
    for (const auto& d : dims) {
      if (const auto* range = std::get_if<1>(&d)) a.layout.dims.push_back(range->len);
    }
    if (a.kind == ArrayKind::kIota) {
      const auto& range = std::get<1>(dims[0]);
      a.start = iota_element(a, range.start);
      const S n = a_.emit_op(ScalarOp::kConvert, PrimType::kI64, a.elem, {range.stride});
      a.stride = product(a.elem, a.stride, n);
    }
    return a;
  }

  template <class Array>
  Array rearranged(Array a, const std::vector<int>& perm) {
    if (a.kind == ArrayKind::kMemory) {
      a.layout = LayoutMath(a_).rearrange(a.layout, perm);
      return a;
    }
    std::vector<S> dims;
    for (const int p : perm) dims.push_back(a.layout.dims[static_cast<size_t>(p)]);
    a.layout.dims = std::move(dims);
    return a;
  }

 private:
  S product(PrimType type, const S& a, const S& b) {
    return a_.emit_op(ScalarOp::kMul, type, type, {a, b});
  }

  A& a_;
};

}  // namespace kenaz::body

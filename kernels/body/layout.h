// Where the elements of an array lie in its memory, symbolically: an offset and strides, counted in
// elements. The arithmetic is a parameter, since host code and kernels compute with different
// scalars: A has a type Scalar and konst(int64_t), add, mul, same(a, b), as_const(a).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace kenaz::body {

/// Element (i0, i1, ..) lies at offset + sum of i_k * stride_k. A dense layout is row-major with
/// neighbours `unit` apart; its `strides` are left empty and follow from `dims`.
template <class S>
struct Layout {
  std::vector<S> dims;
  S offset;
  bool dense = true;
  S unit;
  std::vector<S> strides;
};

template <class S>
struct SliceRange {
  S start, len, stride;
};
/// One per dimension: an index, or a range.
template <class S>
using SliceDims = std::vector<std::variant<S, SliceRange<S>>>;

template <class A>
class LayoutMath {
 public:
  using S = typename A::Scalar;
  using L = Layout<S>;
  explicit LayoutMath(A& a) : a_(a) {}

  L dense(std::vector<S> dims, S offset, S unit) {
    L l;
    l.dims = std::move(dims);
    l.offset = std::move(offset);
    l.unit = std::move(unit);
    return l;
  }
  L dense(std::vector<S> dims) { return dense(std::move(dims), a_.konst(0), a_.konst(1)); }

  std::vector<S> strides(const L& l) {
    if (!l.dense) return l.strides;
    std::vector<S> st(l.dims.size(), l.unit);
    for (size_t k = st.size(); k-- > 1;) st[k - 1] = a_.mul(st[k], l.dims[k]);
    return st;
  }

  L slice(const L& l, const SliceDims<S>& dims) {
    const std::vector<S> st = strides(l);
    L r;
    r.offset = l.offset;
    r.unit = l.unit;
    r.dense = l.dense;
    bool ranged = false;
    for (size_t k = 0; k < dims.size(); k++) {
      if (const S* fix = std::get_if<0>(&dims[k])) {
        r.offset = a_.add(r.offset, a_.mul(*fix, st[k]));
        if (ranged) r.dense = false;
        continue;
      }
      const SliceRange<S>& range = std::get<1>(dims[k]);
      const bool unit_step = is(range.stride, 1);
      if (!unit_step || (ranged && !(is(range.start, 0) && a_.same(range.len, l.dims[k])))) {
        r.dense = false;
      }
      ranged = true;
      r.offset = a_.add(r.offset, a_.mul(range.start, st[k]));
      r.dims.push_back(range.len);
      r.strides.push_back(a_.mul(st[k], range.stride));
    }
    if (r.dense) r.strides.clear();
    return r;
  }

  /// The i-th element along the outer dimension.
  L row(const L& l, S i) { return slice(l, outer(l, {std::move(i)})); }
  /// `n` elements along it, from `start` on.
  L rows(const L& l, S start, S n) {
    return slice(l, outer(l, {SliceRange<S>{std::move(start), std::move(n), a_.konst(1)}}));
  }

  S element(const L& l, const std::vector<S>& index) {
    const std::vector<S> st = strides(l);
    S at = l.offset;
    for (size_t k = 0; k < index.size(); k++) at = a_.add(at, a_.mul(index[k], st[k]));
    return at;
  }

  L rearrange(const L& l, const std::vector<int>& perm) {
    const std::vector<S> st = strides(l);
    L r;
    r.offset = l.offset;
    r.unit = l.unit;
    r.dense = l.dense;
    for (size_t k = 0; k < perm.size(); k++) {
      if (perm[k] != static_cast<int>(k)) r.dense = false;
      r.dims.push_back(l.dims[perm[k]]);
      r.strides.push_back(st[perm[k]]);
    }
    if (r.dense) r.strides.clear();
    return r;
  }

  /// Nothing if the elements must move.
  std::optional<L> reshape(const L& l, std::vector<S> dims) {
    if (!l.dense) return std::nullopt;
    return dense(std::move(dims), l.offset, l.unit);
  }

  bool is(const S& s, int64_t n) {
    const auto c = a_.as_const(s);
    return c && *c == n;
  }

 private:
  /// `first` of the outer dimension, all of the others.
  SliceDims<S> outer(const L& l, SliceDims<S> first) {
    for (size_t k = 1; k < l.dims.size(); k++) {
      first.push_back(SliceRange<S>{a_.konst(0), l.dims[k], a_.konst(1)});
    }
    return first;
  }

  A& a_;
};

}  // namespace kenaz::body

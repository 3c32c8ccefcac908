// Copies of arrays at host level.
#include "kernels/gpu/host_gen.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/plan_launch.h"
#include "kernels/primitives/copy/plans.h"

namespace kenaz::gpu {

using kir::Value;
using kir::Values;

namespace {

/// The unsigned type of the same size: copies of all types of a size share a kernel.
PrimType same_size_unsigned(PrimType t) {
  switch (prim_size(t)) {
    case 1: return PrimType::kU8;
    case 2: return PrimType::kU16;
    case 4: return PrimType::kU32;
    default: return PrimType::kU64;
  }
}

/// The dimension along which neighbours lie beside each other in memory, if it is not the last one
/// of the array, as of the transpose of a matrix.
std::optional<size_t> lying_across(HostGen& host, const HostArray& a) {
  if (a.kind != ArrayKind::kMemory || a.layout.dense) return std::nullopt;
  const auto& strides = a.layout.strides;
  std::optional<size_t> found;
  for (size_t d = 0; d < strides.size(); d++) {
    if (host.as_const(strides[d]) == 1) found = d;
  }
  return found && *found + 1 < strides.size() ? found : std::nullopt;
}

/// The inner dims of an array with strides, as few as say the same: those that lie in memory as one
/// dim would are one.
struct InnerDims {
  std::vector<Operand> sizes, strides;
};
InnerDims inner_dims(HostGen& host, const body::Layout<Operand>& layout, size_t from) {
  InnerDims r;
  for (size_t d = from; d < layout.dims.size(); d++) {
    const Operand& size = layout.dims[d];
    const Operand& stride = layout.strides[d];
    if (!r.sizes.empty() && host.same(r.strides.back(), host.mul(stride, size))) {
      r.sizes.back() = host.mul(r.sizes.back(), size);
      r.strides.back() = stride;
    } else {
      r.sizes.push_back(size);
      r.strides.push_back(stride);
    }
  }
  return r;
}

/// A copy whose source has its neighbours along dimension `across`, to a dense array. Up to that
/// dimension all are segments, those along it alone make a matrix.
struct Transpose {
  const HostArray &from, &to;
  size_t across;
  std::vector<Operand> batch;  // the dims before `across`
  InnerDims inner;
  Operand segments, length;
};

plan::Rows source_rows(HostGen& host, body::Thread& t, const Transpose& c) {
  const body::KernelArray source = t.args.array(c.from);
  Values strides;
  for (const Operand& s : c.inner.strides) strides.push_back(t.args.operand(s));
  plan::Rows rows;
  rows.base = source.base;
  rows.first = [&host, &t, &c, source, strides](kir::Builder& k, const Value& matrix,
                                                const Value& row) {
    Value first = source.layout.offset;
    const auto go = [&](const Value& index, const Value& stride) {
      first = k.add(first, k.mul(index, stride));
    };
    if (!c.batch.empty()) {
      const Values at = indices_of(host, t, c.batch, matrix);
      for (size_t d = 0; d < at.size(); d++) go(at[d], source.layout.strides[d]);
    }
    const Values at = indices_of(host, t, c.inner.sizes, row);
    for (size_t d = 0; d < at.size(); d++) go(at[d], strides[d]);
    return first;
  };
  if (strides.size() == 1) rows.step = strides[0];
  return rows;
}

plan::Rows result_rows(body::Thread& t, const Transpose& c) {
  const body::KernelArray target = t.args.array(c.to);
  const Value length = t.args.operand(c.length), size = target.layout.dims[c.across];
  plan::Rows rows;
  rows.base = target.base;
  rows.first = [=, offset = target.layout.offset](kir::Builder& k, const Value& matrix,
                                                  const Value& row) {
    return k.add(offset, k.mul(k.add(k.mul(matrix, size), row), length));
  };
  rows.step = length;
  return rows;
}

/// Facts::aligned: the bits of all numbers that rows begin or end at.
Operand aligned(HostGen& host, const Transpose& c) {
  const auto& strides = c.from.layout.strides;
  Operand all = host.konst(0);
  const auto join = [&](const Operand& n) {
    all = host.emit_op(ScalarOp::kOr, PrimType::kI64, PrimType::kI64, {all, n});
  };
  for (size_t d = 0; d < strides.size(); d++) {
    if (d != c.across) join(strides[d]);
  }
  join(c.from.layout.offset);
  join(c.to.layout.offset);
  join(c.from.layout.dims[c.across]);
  join(c.length);
  return all;
}

/// By the plans for copies, which go through shared memory.
void transpose(HostGen& host, const HostArray& from, const HostArray& to, size_t across,
               ir::ProvId place) {
  const std::vector<Operand>& dims = from.layout.dims;
  const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(across);
  Transpose c{from, to, across, {dims.begin(), middle}, inner_dims(host, from.layout, across + 1),
              {},   {}};
  c.length = host.count({middle + 1, dims.end()}).operand();
  c.segments = host.count({dims.begin(), middle + 1}).operand();
  PlanRequest request;
  request.facts.name = host.kernel_name("copy");
  request.facts.prov = place;
  request.facts.carried = {from.elem};
  request.facts.segments = plan::HostExpr::size(0);
  request.facts.length = plan::HostExpr::size(1);
  request.facts.across = true;
  if (across > 0) request.facts.matrix = plan::HostExpr::size(2);
  request.facts.aligned = plan::HostExpr::size(3);
  request.sizes = {c.segments, c.length, dims[across], aligned(host, c)};
  request.bind = [&](body::Thread& t, plan::Asks) {
    plan::Problem problem;
    problem.from = source_rows(host, t, c);
    problem.to = result_rows(t, c);
    const body::KernelArray source = t.args.array(from), target = t.args.array(to);
    const std::vector<Operand> outer(dims.begin(), middle + 1), inner(middle + 1, dims.end());
    problem.elements.at = [&host, &t, source, outer, inner](kir::Builder&, const plan::Place& at) {
      Values index = indices_of(host, t, outer, at.segment);
      const Values rest = indices_of(host, t, inner, at.position);
      index.insert(index.end(), rest.begin(), rest.end());
      return Values{body::element(t, source, index)};
    };
    const Value row = t.args.operand(c.length);
    problem.sink.put = [&t, target, row](kir::Builder& k, const plan::Place& at, const Values& x) {
      const Value number = k.add(k.mul(at.segment, row), at.position);
      body::store(t, target, k.add(target.layout.offset, number), x[0]);
    };
    return problem;
  };
  launch_plans(host, primitives::copy_plans(), request);
}

}  // namespace

void HostGen::copy(const HostArray& from, const HostArray& to) {
  LayoutMath math(*this);
  HostArray src = from, dst = to;
  if (src.kind == ArrayKind::kMemory) {
    src.elem = dst.elem = same_size_unsigned(to.elem);
    if (src.layout.dense && dst.layout.dense) {
      // Flat: rank does not matter.
      const Operand total = count(dst.layout.dims).operand();
      src.layout.dims = dst.layout.dims = {total};
    }
  }
  if (const auto across = lying_across(*this, src); across && dst.layout.dense &&
                                                    as_const(dst.layout.unit) == 1 &&
                                                    hides_latency_by_threads(*this)) {
    transpose(*this, src, dst, *across, place_);
    return;
  }
  const Operand total = count(dst.layout.dims).operand();
  body::Thread t(*this, kernel_name("copy"), place_);
  const body::KernelArray d = t.args.array(dst);
  // The element, and where it goes.
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const Values& args) {
    const body::KernelArray s = t.args.array(src);
    const Values at = indices_of(*this, t, dst.layout.dims, args[0]);
    body::Math kernel_math{t.k};
    return Values{body::element(t, s, at), body::LayoutMath(kernel_math).element(d.layout, at)};
  });
  const auto store = [&](const Value&, const Values& made) { body::store(t, d, made[1], made[0]); };
  launch_elements(*this, t, elem, store, total, items_per_thread(*this, prim_size(dst.elem)));
}

}  // namespace kenaz::gpu

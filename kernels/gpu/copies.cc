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

/// To a dense array: by the plans for copies, which go through shared memory. Up to dimension
/// `across` all are segments.
void transpose(HostGen& host, const HostArray& from, const HostArray& to, size_t across) {
  const std::vector<Operand>& dims = to.layout.dims;
  const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(across) + 1;
  const std::vector<Operand> outer(dims.begin(), middle), inner(middle, dims.end());
  const Operand length = host.count(inner).operand();
  PlanRequest request;
  request.facts.name = host.kernel_name("copy");
  request.facts.carried = {from.elem};
  request.facts.segments = plan::HostExpr::size(0);
  request.facts.length = plan::HostExpr::size(1);
  request.facts.across = true;
  if (across > 0) request.facts.matrix = plan::HostExpr::size(2);
  request.sizes = {host.count(outer).operand(), length, dims[across]};
  request.bind = [&](body::Thread& t, plan::Asks) {
    const body::KernelArray source = t.args.array(from), target = t.args.array(to);
    const Value row = t.args.operand(length);
    plan::Problem problem;
    problem.elements.at = [&, source](kir::Builder&, const plan::Place& at) {
      Values index = indices_of(host, t, outer, at.segment);
      const Values rest = indices_of(host, t, inner, at.position);
      index.insert(index.end(), rest.begin(), rest.end());
      return Values{body::element(t, source, index)};
    };
    problem.sink.put = [&, target, row](kir::Builder& k, const plan::Place& at, const Values& x) {
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
    transpose(*this, src, dst, *across);
    return;
  }
  const Operand total = count(dst.layout.dims).operand();
  body::Thread t(*this, kernel_name("copy"));
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

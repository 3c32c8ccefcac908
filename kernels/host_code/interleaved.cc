#include "kernels/host_code/interleaved.h"

#include <algorithm>

#include "kernels/body/dests.h"
#include "kernels/body/storage.h"
#include "kernels/body/thread.h"
#include "kernels/host_code/launch.h"

namespace kenaz::host_code {

namespace {

std::vector<Operand> dims_from(const HostArray& a, size_t first, size_t end) {
  const auto at = [&](size_t d) { return a.layout.dims.begin() + static_cast<std::ptrdiff_t>(d); };
  return {at(first), at(end)};
}

/// The array with its dims as the result has them: of `memory`, whose columns are points' rows.
HostArray by_points(HostArrays& host, const HostArray& memory, const HostArray& result,
                    size_t outer) {
  const std::vector<Operand>& dims = result.layout.dims;
  HostArray a = memory;
  a.layout.dims = dims;
  a.layout.dense = false;
  a.layout.strides.resize(dims.size());
  Operand stride = host.konst(1);
  const auto stride_from = [&](size_t first, size_t end) {
    for (size_t d = end; d-- > first;) {
      a.layout.strides[d] = stride;
      stride = host.mul(stride, dims[d]);
    }
  };
  stride_from(0, outer);
  stride_from(outer, dims.size());
  return a;
}

/// The result as a matrix, with a row for each point.
HostArray as_matrix(HostArrays& host, HostArray result, const Operand& points,
                    const Operand& length) {
  result.layout = *body::LayoutMath(host).reshape(result.layout, {points, length});
  return result;
}

}  // namespace

bool is_short_row(const ir::Program& p, const ir::Atom& row) {
  constexpr int64_t kLeastElements = 8, kSector = 32;
  const ir::Type type = p.type_of(row);
  const int64_t least = std::max<int64_t>(kLeastElements * prim_size(type.prim), kSector);
  return !type.is_scalar() && body::is_within(type, body::kMostOfTable) &&
         !body::is_within(type, least - 1);
}

bool stores_by_elements(HostArrays& host, const ir::ESeg& e, size_t n) {
  if (!hides_latency_by_threads(host)) return false;
  const auto loop = body::loop_in_place(host.ir(), e.body, n);
  if (!loop) return is_short_row(host.ir(), e.body.results[n]);
  // Small rows of a loop's are in registers, or close to them; of larger ones, which are moved
  // behind the loop, storing them took a quarter of the time (tridagNestedSeqConst of
  // futhark-benchmarks on an H200).
  const bool is_small = body::is_within(host.ir().type_of(*loop), body::kMostOfTable);
  return !is_small || !body::works_apart(host, *loop);
}

Interleaved::Interleaved(HostArrays& host, const ir::ESeg& e, const SegParts& parts)
    : host_(host), parts_(parts), outer_(e.space.dims.size()) {
  if (e.kind != ir::SegKind::kMap || !e.writes.empty()) return;
  for (size_t n = 0; n < parts.stored.size(); n++) {
    if (!parts.stored[n].layout.dense) continue;
    if (!stores_by_elements(host, e, n)) continue;
    rows_.push_back(n);
    has_short_ = has_short_ || !body::loop_in_place(host.ir(), e.body, n);
  }
  if (any()) points_ = host.count(dims_from(parts.stored[rows_[0]], 0, outer_)).operand();
}

Operand Interleaved::length(size_t row) const {
  const HostArray& a = parts_.stored[row];
  return host_.count(dims_from(a, outer_, a.layout.dims.size())).operand();
}

Operand Interleaved::worthwhile() const {
  // Shorter rows lie in few sectors anyway. More bytes are not taken a second time.
  constexpr int64_t kLeastPoints = 1024, kLeastLength = 16, kMostBytes = int64_t{1} << 31;
  // Of short rows, so that a second launch is worth it.
  constexpr int64_t kLeastBytes = int64_t{1} << 23;
  const auto le = [&](const Operand& a, const Operand& b) {
    return host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool, {a, b});
  };
  const auto both = [&](const Operand& a, const Operand& b) {
    return host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {a, b});
  };
  Operand good = le(host_.konst(kLeastPoints), points_);
  HostSize bytes = host_.size(0);
  for (const size_t row : rows_) {
    if (!has_short_) good = both(good, le(host_.konst(kLeastLength), length(row)));
    bytes = host_.plus(bytes, host_.times(host_.count(parts_.stored[row].layout.dims),
                                          host_.size(prim_size(parts_.stored[row].elem))));
  }
  if (has_short_) good = both(good, le(host_.konst(kLeastBytes), bytes.operand()));
  return both(good, le(bytes.operand(), host_.konst(kMostBytes)));
}

void Interleaved::launch(const std::function<void(const SegParts&)>& map) const {
  SegParts apart = parts_;
  std::vector<HostArray> made;
  for (const size_t row : rows_) {
    const HostArray& result = parts_.stored[row];
    made.push_back(host_.allocate(result.elem, {length(row), points_}));
    apart.stored[row] = by_points(host_, made.back(), result, outer_);
  }
  map(apart);
  for (size_t n = 0; n < rows_.size(); n++) {
    const size_t row = rows_[n];
    host_.copy(host_.rearranged(made[n], {1, 0}),
               as_matrix(host_, parts_.stored[row], points_, length(row)));
  }
}

}  // namespace kenaz::host_code

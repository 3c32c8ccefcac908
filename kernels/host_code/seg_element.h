// The code of one point of a segmented operation, in a kernel.
#pragma once

#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/host_code/small_rows.h"

namespace kenaz::host_code {

/// What a point does with the results of the body: hands the operands of monoids and combining
/// writes to its caller, writes those of plain writes to `dests`, stores the others to `stored`.
/// It may also store operands, to the first arrays of `stored`, instead of handing them on.
struct SegParts {
  bool hands_on = true;
  bool hands_all = false;         // of a map of scalars: hands all on, and writes nothing
  std::vector<HostArray> dests;   // of plain writes, in order
  std::vector<HostArray> stored;  // with the space's dims in front
};

/// The arrays of the plain writes and of the plain results of `e`, bound to what `s` binds.
SegParts make_parts(HostArrays& host, const ir::Stm& s, const ir::ESeg& e);

/// Binds the indices of `dims` to what `linear` (i64) counts in row-major order.
void bind_indices(HostArrays& host, body::Thread& t, const std::vector<ir::SegDim>& dims,
                  const kir::Value& linear);

/// A function of a point: the space's dims, outer first, are taken in `groups` of so many dims, and
/// the point's place in each group is numbered through in row-major order (i64). It gives the
/// scalars that it hands on.
kir::FunctionId point_function(HostArrays& host, body::Thread& t, const ir::ESeg& e,
                               const std::vector<size_t>& groups, const SegParts& parts);

/// The same in the middle of a function, where the indices are bound.
kir::Values run_point(HostArrays& host, body::Thread& t, const ir::ESeg& e, const SegParts& parts);

/// Writes what the plain writes say, out of all results of the body; its indices are bound if
/// writes are to segments.
void write_values(body::Thread& t, const ir::ESeg& e, const std::vector<HostArray>& dests,
                  const std::vector<body::KernelValue>& results);

/// Stores the scalars of points next to each other, from `place` in the space on. `parts`: the
/// results' arrays, dense.
void store_points(body::Thread& t, const ScalarResults& scalars, const SegParts& parts,
                  const kir::Value& place, const std::vector<kir::Values>& results);

/// How many leading results of the body are handed on, unless all are.
size_t handed_by(const ir::ESeg& e);

}  // namespace kenaz::host_code

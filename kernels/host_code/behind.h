// Maps that are done where the results of a scan or reduction are stored: these are then never in
// memory.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

/// The number of the statement of `b` that is such a map of what its statement `n` makes. Nobody
/// else uses that, and all else that the map needs is there before `n`. `uses`: of all variables of
/// the program.
std::optional<size_t> map_behind(const HostArrays& host, const std::vector<int>& uses,
                                 const ir::Body& b, size_t n);

/// What is done with the results of `s`, a scan or reduction, for the map `behind`.
class Behind {
 public:
  /// Makes and binds the arrays that the map makes.
  Behind(HostArrays& host, const ir::Stm& s, const ir::Stm& behind);

  /// In a kernel. `length`: elements of a segment; 1 of a reduction.
  plan::Sink sink(body::Thread& t, const kir::Value& length) const;

 private:
  kir::FunctionId point(body::Thread& t) const;

  HostArrays& host_;
  const ir::ESeg& map_;
  size_t leading_;                                    // dims of the segments
  ir::Body body_;                                     // without the loads of the results
  std::vector<std::pair<ir::VarId, size_t>> loaded_;  // what they bind, of which result
  std::vector<PrimType> types_;                       // of the results
  std::vector<HostArray> arrays_;                     // dense
};

}  // namespace kenaz::host_code

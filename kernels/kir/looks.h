// Which loops of a kernel ask from time to time whether the call is to stop.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "kernels/kir/bounds.h"
#include "kernels/kir/counters.h"
#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Of a kernel that stays as it is.
class Looks {
 public:
  explicit Looks(const Kernel& kernel);
  /// Whether each iteration of the loop counts towards looking whether the call is to stop. Loops
  /// of few known iterations do not, nor nests of such.
  bool looks(const Inst& loop) const { return looking_.contains(&loop); }
  bool any() const { return !looking_.empty(); }

 private:
  int64_t uncounted_iterations(const Block& block);
  int64_t uncounted_iterations(const Inst& inst);

  const Bounds bounds_;
  const Counters counters_;
  std::vector<int64_t> function_iterations_;  // without looking, at most
  std::set<const Inst*> looking_;
};

}  // namespace kenaz::kir

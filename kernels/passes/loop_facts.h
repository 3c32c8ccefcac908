// What holds of the integers that a loop carries, in each of its turns and when it is over:
//
//   loop j = k while j > 0 && xs[j - 1] > x do .. j - 1
//
// j is above 0 in each turn and at most k, and at least 0 behind the loop.
#pragma once

#include <functional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

struct LoopFacts {
  std::vector<ir::EPrim> inside;  // comparisons that hold in each turn
  std::vector<ir::EPrim> behind;  // of what the statement binds
};

/// Whether the comparison is known to hold where the loop begins; `enters`: if it makes a turn.
using HoldsAtFirst = std::function<bool(const ir::EPrim&, bool enters)>;

/// `s` is a loop.
LoopFacts loop_facts(const ir::Stm& s, const HoldsAtFirst& holds);

}  // namespace kenaz::passes

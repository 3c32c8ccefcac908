// Elements of one segment, dealt out to the threads of a workgroup.
#pragma once

#include <functional>

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

/// How many elements a thread takes at a time: so many bytes that enough loads are in flight. A
/// multiple of Facts::widest, 1 if elements are slow.
int items_in_flight(const plan::Facts& facts);

/// The `n` elements from `first` on, a multiple of n: by vectors where the elements have them.
std::vector<kir::Values> neighbours(plan::Team& t, const kir::Value& segment,
                                    const kir::Value& first, int n);

/// Calls `body` with each element from `from`, a multiple of the workgroup's size times
/// items_in_flight, to before `to`; neighbouring threads take neighbours. Not uniform.
void for_striped(plan::Team& t, const kir::Value& segment, const kir::Value& from,
                 const kir::Value& to, const std::function<void(const kir::Values&)>& body);

}  // namespace kenaz::primitives::blocks

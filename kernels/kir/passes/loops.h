// What passes over loops ask about them.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Whether all that the instruction does is to compute, load and assign; also what is inside of it,
/// which may be conditions but no loops.
bool is_quiet(const Inst& i);
bool is_quiet(const Block& b);

/// Whether the index goes up by one, as i32 or i64, and nobody has said how the loop is to run.
bool counts_by_one(const IFor& loop);

}  // namespace kenaz::kir

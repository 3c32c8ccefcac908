// Uniqueness: nothing is used after it was consumed, nothing is consumed that belongs to somebody
// else, and what is called unique shares memory with nothing. A pass over the typed program, one
// definition after the other.
#pragma once

#include <optional>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/core.h"
#include "kernels/futhark/core/type_util.h"

namespace kenaz::consumption {

/// The first violation in `def`, a definition at top level, or nothing. Without any, what nobody
/// wrote about uniqueness is found out: `def.type` gets a unique result where the result never
/// shares memory with what the caller keeps. `names` must have all variables.
std::optional<Diagnostic> check(core::Def& def, const core::Names& names);

}  // namespace kenaz::consumption

// Causality: a size is computed before something of a type that mentions it is made. A pass over
// the typed program, one definition after the other.
#pragma once

#include <functional>
#include <optional>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/core.h"
#include "kernels/futhark/core/type_util.h"

namespace kenaz::sizes {

/// Whether a size is known only when a value of that size is.
using IsUnknown = std::function<bool(core::VarId)>;

/// The first place in `def`, a definition at top level, where a size is needed that only comes into
/// being later; or nothing. `names` must have all variables.
std::optional<Diagnostic> check_causality(const core::Def& def, const core::Names& names,
                                          const IsUnknown& is_unknown);

}  // namespace kenaz::sizes

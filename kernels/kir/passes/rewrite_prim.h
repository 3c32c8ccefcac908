// Rules for one scalar operation that look at how its operands were made.
#pragma once

#include <functional>
#include <optional>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// The operation that makes a value, or null if it is no scalar operation.
using MadeBy = std::function<const IPrim*(const Value&)>;

/// Changes the operation into a simpler one with the same result, as far as it goes; returns the
/// result if that is a constant or another value.
std::optional<Value> rewrite_prim(IPrim& inst, const MadeBy& made_by);

}  // namespace kenaz::kir

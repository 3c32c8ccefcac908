// What a recursive function may do: a check of its own over the typed definition.
#pragma once

#include <functional>
#include <optional>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/core.h"

namespace kenaz::check {

/// The first rule that `def`, which mentions itself, breaks, or nothing: its result has no
/// functions in it, it applies itself to all of its arguments, and it hands on functions among its
/// parameters unchanged. `may_be_function` says of a type whether its values might have functions
/// inside.
std::optional<Diagnostic> check_recursion(
    const core::Def& def, const std::function<bool(const core::TypePtr&)>& may_be_function);

}  // namespace kenaz::check

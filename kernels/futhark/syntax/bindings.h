// Expressions that bind names.
#pragma once

#include "kernels/futhark/syntax/ast.h"

namespace kenaz::syntax {

/// Whether `e`, or a part of it, is a function, binding, loop or match. Such an expression is no
/// size, as its names would mean nothing in a type.
bool binds_names(const Exp& e);

}  // namespace kenaz::syntax

// Statements that are simple in some way.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Whether all that it binds are scalars.
bool binds_scalars(const Program& p, const Stm& s);

/// Whether it is straight code on scalars, but for ifs.
bool is_plain(const Program& p, const Stm& s);
bool is_plain(const Program& p, const Body& b);

/// Whether it is an operation that takes next to no time (scalar_op_is_quick), or another name.
bool is_quick_arithmetic(const Stm& s);

}  // namespace kenaz::ir

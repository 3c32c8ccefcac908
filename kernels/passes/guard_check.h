// Checks that leave the combinators in which they stand.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// Whether a combinator has no elements; `var` is null if it has some for certain.
struct Empty {
  bool is_known = false;
  std::optional<ir::VarId> var;
};

/// Makes the check, which is to stand before a combinator of these widths, hold if that has no
/// elements: one of the widths is zero or less. What is computed for it is appended to `out`;
/// `empty` is found out once for all checks of the combinator. Says whether the check may hold now
/// where it did not.
bool guard_check(ir::Program& p, ir::Stm& check, const std::vector<ir::Atom>& widths, Empty& empty,
                 std::vector<ir::Stm>& out);

}  // namespace kenaz::passes

// Questions about IR that code generation asks.
#pragma once

#include <functional>
#include <set>

#include "kernels/ir/ir.h"

namespace kenaz::body {

/// The variables that `body` consumes, directly or through an alias made inside it.
std::set<ir::VarId> consumed_in(const ir::Program& program, const ir::Body& body);

/// Whether `pred` holds for any expression in the body, however deep (calls included).
bool any_exp(const ir::Program& program, const ir::Body& body,
             const std::function<bool(const ir::Exp&)>& pred);

/// Whether something in it writes to memory in place.
bool updates_in_place(const ir::Program& program, const ir::Body& body);

/// The bodies directly inside an expression.
std::vector<const ir::Body*> bodies_of(const ir::Exp& exp);

/// Where a function's size variables get their values: (variable, (parameter, dimension)).
std::vector<std::pair<ir::VarId, std::pair<size_t, size_t>>> size_variables(
    const ir::Program& program, const ir::Function& f);

/// Calls nest this deep at most before they count as recursion.
inline constexpr int kMaxCallDepth = 200;

}  // namespace kenaz::body

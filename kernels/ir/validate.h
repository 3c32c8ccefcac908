// Checks that a program is well-formed array IR: every variable bound once and used in scope,
// operand and pattern types, arities of combinators and their lambdas, calls, that the program's
// stage allows what it has, and that nothing is used after it was consumed. Runs after every pass
// in debug builds (sanitized ones are) and in the tests of passes, before and after; an error is a
// bug of the pass before it.
#pragma once

#include <optional>
#include <string>

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::ir {

/// kInternal, with the statement in its message.
Status validate(const Program& p);

/// The part of validate about the program's stage (stages.def) and the levels of ESegs.
Status validate_stage(const Program& p);

/// The part of validate about consumption; expects the rest to hold.
Status validate_consumption(const Program& p);

/// What is wrong with a program's consumption, and which statement consumed what. `consumer` points
/// into the program; it may be null.
struct ConsumptionError {
  std::string message;
  const Stm* consumer = nullptr;
  VarId consumed;
};
std::optional<ConsumptionError> find_consumption_error(const Program& p);

}  // namespace kenaz::ir

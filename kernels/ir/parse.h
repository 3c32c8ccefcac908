// Reads the textual form of array IR (print.h) back. For tests and tools: names are resolved
// lexically, a trailing "_12" of a name is not part of the variable's hint. Nothing is validated
// beyond syntax and scoping; call validate for the rest.
#pragma once

#include <string_view>

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::ir {

Result<Program> parse(std::string_view text);

}  // namespace kenaz::ir

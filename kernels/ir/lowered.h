// What the front end hands on: array IR, and what clients see of the program.
#pragma once

#include <vector>

#include "kernels/ir/ir.h"
#include "protocol/value_type.h"

namespace kenaz::ir {

/// Array IR together with what the server needs to know about entry points and types. For each
/// entry point, `ir.entries` has one of the same name; its function's params are the leaves of the
/// entry point's parameters, in order.
struct Lowered {
  Program ir;
  std::vector<EntryPoint> entries;  // sorted by name
  TypeTable types;
};

}  // namespace kenaz::ir

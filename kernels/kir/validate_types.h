// The part of validate() that looks at one instruction alone: types, numbers, ids of tables.
#pragma once

#include <optional>
#include <string>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// What is wrong with the instruction's types, or nullopt. The types of operands, results and
/// variables must be those of the kernel's tables. `calls_before`: calls go to functions before it.
std::optional<std::string> find_type_error(const Kernel& kernel, const Inst& inst,
                                           size_t calls_before);

}  // namespace kenaz::kir

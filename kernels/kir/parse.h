// Reads the text form of kernel IR (print.h) back. For tests and tools. Numbers of values are kept,
// so the kernel that was printed comes back; entries of its tables that nothing names may be lost.
#pragma once

#include <string_view>

#include "kernels/kir/kir.h"
#include "protocol/base/result.h"

namespace kenaz::kir {

/// Checks syntax, and that every name is defined somewhere; call validate for the rest. Line breaks
/// mean nothing, "--" starts a comment. kBadRequest, with the line.
Result<Kernel> parse(std::string_view text);

}  // namespace kenaz::kir

// Text to abstract syntax: the whole grammar of Futhark 0.27/0.28.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/syntax/ast.h"

namespace kenaz::syntax {

/// Parses one file. On failure the result is the first syntax error. Nesting deeper than a fixed
/// limit (stated in the message) is an error too, never a stack overflow.
tl::expected<Program, Diagnostic> parse(std::shared_ptr<const std::string> file_name,
                                        std::string_view text);

}  // namespace kenaz::syntax

// POSIX extended regular expressions as test blocks use them: unanchored, '.' matches a line end.
#pragma once

#include <memory>
#include <string>

#include "protocol/base/result.h"

namespace kenaz::testing {

/// Whether the expression is found in the text. Fails if the expression is malformed.
Result<bool> regex_found(const std::string& expression, const std::string& text);

}  // namespace kenaz::testing

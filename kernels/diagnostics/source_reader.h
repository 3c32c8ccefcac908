// How the front end gets source text: from files, or from wherever its caller keeps it.
#pragma once

#include <functional>
#include <string>

#include "protocol/base/result.h"

namespace kenaz {

/// Gives the contents of a source file; `path` is as the import rules resolve it. The error is of
/// kind kNoSuchFile if there is none, of another if it cannot be read.
using SourceReader = std::function<Result<std::string>(const std::string& path)>;

}  // namespace kenaz

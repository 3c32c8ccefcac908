// Reading a whole file that somebody else may have chosen.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/base/result.h"

namespace kenaz {

/// A file's contents. Only of a regular file: what else a path may lead to (a pipe, a terminal, a
/// folder, an endless device) would be waited for, or has no contents. Errors say why without the
/// path: kNoSuchFile if nothing has this name, else kBadRequest; more than `max_bytes` is one.
Result<std::string> read_regular_file(const std::string& path, int64_t max_bytes);

}  // namespace kenaz

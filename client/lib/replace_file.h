// Files that are there whole or not at all.
#pragma once

#include <functional>
#include <string>

#include "protocol/base/result.h"

namespace kenaz::client {

/// Calls `write` with the path of a file, which then takes the place of what is at `path`, with its
/// mode; whoever opens `path` finds the old file or the whole new one. Links are followed. What is
/// no plain file (a pipe, a device) is written itself. If `write` fails, all is as it was.
Status replace_file(const std::string& path,
                    const std::function<Status(const std::string& path)>& write);

}  // namespace kenaz::client

// Files that are there whole or not at all.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "protocol/base/result.h"

namespace kenaz {

/// Calls `write` with the path of a file, which then takes the place of what is at `path`; whoever
/// opens `path` finds the old file or the whole new one. Its mode is `mode`, else that of the old
/// one. Links are followed. What is no plain file (a pipe, a device) is written itself, and keeps
/// its mode. If `write` fails, all is as it was.
Status replace_file(const std::string& path,
                    const std::function<Status(const std::string& path)>& write,
                    std::optional<mode_t> mode = std::nullopt);

}  // namespace kenaz

// Values of the command line's options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "server/programs/program_limits.h"

namespace kenaz {

/// What is wrong with a number of things; empty, if it is one up to a billion.
std::string is_count(const std::string& text);
/// What is wrong with a number of seconds; empty, if it is a time. NaN is none, and what is less
/// than the clocks tell apart would become 0, which means something else.
std::string is_time(const std::string& text);
/// "16 kib" as 16384; null if it is no number of bytes up to an exbibyte. Units count in powers of
/// 1024.
std::optional<uint64_t> size_in_bytes(std::string_view text);

/// Of words such as "main.call-timeout=5", of which later ones count. Fails for what is no limit.
Result<LimitsByProgram> program_limits(const std::vector<std::string>& words);

}  // namespace kenaz

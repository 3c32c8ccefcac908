// Arrays at a glance, in a terminal.
#pragma once

#include <string>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::cli {

/// "[100]f32: 0 .. 99, mean 49.5, standard deviation 28.8661", of the elements that are numbers;
/// how many are not is said. Of truth values, how many are true.
std::string statistics(const data::Value& value);

/// A one-dimensional array of numbers as `height` lines of at most `width` columns, with its least
/// and greatest value at the left: a column shows the range of the elements that fall in it. What
/// is not finite is left out.
Result<std::string> plot(const data::Value& value, int width, int height);

}  // namespace kenaz::cli

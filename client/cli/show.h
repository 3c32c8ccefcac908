// Values for people.
#pragma once

#include <string>

#include "client/lib/client.h"

namespace kenaz::cli {

/// As text; of a large array only the ends of each dimension: [1i32, 2i32, 3i32, ..., 1000i32].
std::string abbreviated(const data::Value& value);

/// A variable's value: records as {x = 1i32, y = [2i32]}, tuples as (1i32, 2i32), sums as
/// #circle 1f32. A large array that is abbreviated has its statistics in a second line. Takes them
/// apart into variables that it frees again.
Result<std::string> show_variable(client::Client& client, const std::string& name, bool all);

}  // namespace kenaz::cli

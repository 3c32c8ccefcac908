// How large a dataset is, by what it is called.
#pragma once

#include <optional>
#include <string_view>

namespace kenaz::bench {

/// Of a name with types of arrays, "[100][20]f32 [100]f32", the elements of the largest. Else the
/// largest number in it: "n = 10_000", "1e6", "2^20", "64k", "data/n5000.in", `#0 ("10i64")`. None:
/// there is no number, or values of an array stand there.
std::optional<double> size_in_name(std::string_view name);

}  // namespace kenaz::bench

// The source texts of the prelude and of libraries, embedded in the binary.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace kenaz::prelude {

/// File name without ending ("soacs", "library/kenaz/sort") and text. Of what ships as a library
/// for any compiler, library/native has what stands for it in this one.
const std::vector<std::pair<std::string_view, std::string_view>>& sources();

}  // namespace kenaz::prelude

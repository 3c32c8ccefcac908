// The prelude's source texts, embedded in the binary.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace kenaz::prelude {

/// File name without ending ("soacs") and text.
const std::vector<std::pair<std::string_view, std::string_view>>& sources();

}  // namespace kenaz::prelude

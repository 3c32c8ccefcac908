// What may have been meant where a name is unknown or a type does not fit: lines for the end of a
// message, each with a line end before it, or an empty text.
#pragma once

#include <string>

#include "kernels/futhark/core/core.h"

namespace kenaz::check {

std::string suggest_field(const std::string& field, const core::TRecord& record);

}  // namespace kenaz::check

// Checked programs as text, for tests and for looking at. Not Futhark syntax, but close.
#pragma once

#include <string>

#include "kernels/futhark/core/core.h"

namespace kenaz::core {

/// Variables print as name_id.
std::string str(const Checked& program);
std::string str(const ExpPtr& e, const Checked& program);

}  // namespace kenaz::core

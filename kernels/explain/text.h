// A report as text for people, and as JSON for tools (docs/explain.md has its schema).
#pragma once

#include <string>

#include "kernels/explain/report.h"

namespace kenaz::explain {

std::string text(const Report& report);
std::string json(const Report& report);

/// "256 <= length and segments < 64".
std::string condition_text(const plan::HostExpr& e, int group_size);
/// "4 n m"; "1" without factor and names.
std::string size_text(const Size& size);

}  // namespace kenaz::explain

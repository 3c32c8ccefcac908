// Diagnostics as JSON, for programs that show them to people. docs/errors.md describes the form.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "kernels/diagnostics/diagnostic.h"

namespace kenaz::editor {

/// {file, range, severity, code, message, hints, related, help, rendered}; `file` and `range` are
/// missing if the diagnostic has no place. Text that is no UTF-8 is kept as it is: dump it with
/// `text_of`.
nlohmann::json to_json(const Diagnostic& d);

/// One line of JSON, in which bytes that are no UTF-8 are replaced.
std::string text_of(const nlohmann::json& document);

/// A diagnostic that is only known as text, "Error at FILE:1:2-3:\nMESSAGE\n\n  EXCERPT". Without
/// such a head all of it is the message.
Diagnostic diagnostic_of(std::string_view text);

}  // namespace kenaz::editor
